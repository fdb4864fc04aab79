(** Naive HSD (zhou2026hsd, Algorithm 1), as Code.v has it from the Python, is greedy block verification.

    With the joint ratio a and the joint probabilities P = a Q, Q above 0 on a path that is drafted, both toss the same
    coins, and what they draw from differs by the factor Q alone. *)

Require Import Reals Lra Lia List Arith FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code Means Lossless Traversal RecursiveRejection Chains.
Require Import BlockOptimal Texts GreedyBlock GreedyText GreedyAccepts Hsd CodeFacts CodeChains CodeLossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section CodeNaive.
Variable V : nat.
Variables q at_leaf : context -> row.
Hypothesis q_rows : forall c, is_row V (q c).
Notation mean := (mean V).
Notation total := (total V).

Section Walk.
Variable t : context -> row.
Notation naive_residual := (naive_residual t q).
Notation naive_coin := (naive_coin V t q).
Definition naive_below : list token -> context -> R -> program (option stop) :=
  below V t (naive_next t q) naive_full naive_coin naive_residual.

(** ** The same coins, and rows that differ by a factor *)

Lemma excess_scaled : forall k (r s : row), 0 < k -> excess (scale k r) (scale k s) = scale k (excess r s).
Proof.
  intros k r s K. extensionality x. unfold excess, scale, positive. simpl.
  assert (F : k * (r x - s x) = k * r x - k * s x) by ring.
  destruct (Rlt_dec 0 (r x - s x)) as [A|A], (Rlt_dec 0 (k * r x - k * s x)) as [B|B]; try lra.
  - exfalso. apply B. rewrite <- F. apply Rmult_lt_0_compat; auto.
  - exfalso. assert (k * (r x - s x) <= k * 0) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma share_scaled_by : forall k a b, 0 < k -> 0 <= a -> share (k * a) (k * b) = share a b.
Proof.
  intros k a b K A. unfold share. simpl. destruct (Rlt_dec a b) as [L|L], (Rlt_dec (k * a) (k * b)) as [M|M]; auto.
  - field. lra.
  - exfalso. apply M, Rmult_lt_compat_l; auto.
  - exfalso. apply L, Rmult_lt_reg_l with k; auto.
Qed.

Lemma total_scaled : forall k (r : row), total (scale k r) = k * total r.
Proof. intros. apply total_mul. Qed.

Lemma normalise_scaled : forall k (r : row), 0 < k -> 0 < total r -> normalise V (scale k r) = normalise V r.
Proof.
  intros k r K T. extensionality x. unfold normalise. rewrite total_scaled. simpl.
  destruct (Rlt_dec 0 (k * total r)) as [A|A]; [|exfalso; apply A; apply Rmult_lt_0_compat; auto].
  destruct (Rlt_dec 0 (total r)) as [B|B]; [|lra]. unfold scale. simpl. field. lra.
Qed.

Lemma greedy_rows : forall a P Q c, 0 < Q -> P = a * Q -> greedy_residual t q (P, Q) c = scale Q (naive_residual a c).
Proof.
  intros a P Q c K ->. unfold greedy_residual, naive_residual. cbn [fst snd]. rewrite <- excess_scaled by auto. f_equal.
  extensionality x. unfold scale. simpl. ring.
Qed.

Lemma same_coins : forall a P Q c, 0 < Q -> P = a * Q -> greedy_coin V t q (P, Q) c = naive_coin a c.
Proof.
  intros a P Q c K E. unfold greedy_coin, naive_coin. rewrite (greedy_rows a P Q c K E). cbn [fst snd].
  replace (excess (scale Q (q c)) (scale P (t c))) with (scale Q (excess (q c) (scale a (t c)))).
  - rewrite !total_scaled. apply share_scaled_by; auto.
    apply total_nonneg. intros. apply excess_nonneg.
  - rewrite <- excess_scaled by auto. f_equal. extensionality x. unfold scale. subst P. simpl. ring.
Qed.

Lemma same_last_coin : forall a P Q, 0 < Q -> P = a * Q -> greedy_full (P, Q) = naive_full a.
Proof.
  intros a P Q K ->. unfold greedy_full, naive_full, share, minimum. simpl.
  destruct (Rlt_dec (a * Q) Q) as [L|L], (Rlt_dec 1 a) as [M|M]; simpl.
  - exfalso. assert (1 * Q < a * Q) by (apply Rmult_lt_compat_r; auto). lra.
  - field. lra.
  - auto.
  - assert (~ a < 1); [|lra]. intros N. apply L. rewrite <- (Rmult_1_l Q) at 2. apply Rmult_lt_compat_r; auto.
Qed.

(** Where greedy block verification draws from laws alone, so does naive HSD, with the same outcome on average. *)
Definition drawable (post : option stop -> Prop) : Prop := forall c r, post (Some (c, r)) -> total r = 1.

Lemma one_step : forall (m n : program (option stop)) kg kn (post : option stop -> Prop),
  proper V (bind m kg) post ->
  (forall P : option stop -> Prop, drawable P -> proper V m P -> proper V n P /\ forall f, mean n f = mean m f) ->
  drawable (fun found => proper V (kg found) post) ->
  (forall found, proper V (kg found) post ->
    proper V (kn found) post /\ forall f, mean (kn found) f = mean (kg found) f) ->
  proper V (bind n kn) post /\ forall f, mean (bind n kn) f = mean (bind m kg) f.
Proof.
  intros m n kg kn post H I D K. apply proper_inside in H. destruct (I _ D H) as [N E]. split.
  - apply (proper_bind V _ _ _ _ _ _ N). intros found F. apply K. auto.
  - intros f. rewrite !mean_bind, E. apply (mean_ext_proper V _ _ _ _ _ H). intros found F. apply K. auto.
Qed.

Lemma below_alike : forall path c a P Q post, Hsd.drafted q path c -> 0 < Q -> P = a * Q -> drawable post ->
  proper V (below V t (greedy_next t q) greedy_full (greedy_coin V t q) (greedy_residual t q) path c (P, Q)) post ->
  proper V (naive_below path c a) post /\
  forall f, mean (naive_below path c a) f =
    mean (below V t (greedy_next t q) greedy_full (greedy_coin V t q) (greedy_residual t q) path c (P, Q)) f.
Proof.
  unfold naive_below. induction path as [|x path IH]; intros c a P Q post D K E W H; cbn [below] in *.
  - rewrite (same_last_coin a P Q) in * by auto. split; [exact H|reflexivity].
  - destruct D as [L D].
    apply (one_step _ _ _ _ _ H).
    + intros post' W' H'. apply (IH (c ++ [x]) _ _ _ post' D); auto.
      * apply Rmult_lt_0_compat; auto.
      * unfold naive_next. cbn [fst snd]. rewrite ratio_positive by auto. subst P. field. lra.
    + intros d r F. apply (W d r). exact F.
    + intros [s|] F; [split; [exact F|reflexivity]|]. rewrite (same_coins a P Q c K E) in *. simpl in F.
      destruct F as [B [F1 F2]].
      assert (R : 0 < naive_coin a c ->
        normalise V (greedy_residual t q (P, Q) c) = normalise V (naive_residual a c)).
      { intros C. rewrite (greedy_rows a P Q c K E). apply normalise_scaled; auto.
        specialize (W _ _ (F1 C)). rewrite (greedy_rows a P Q c K E) in W.
        assert (N : 0 <= total (naive_residual a c)) by (apply total_nonneg; intros; apply excess_nonneg).
        destruct (Rle_lt_or_eq_dec _ _ N) as [|Z]; auto. exfalso. revert W. unfold normalise.
        rewrite total_scaled, <- Z. simpl. destruct (Rlt_dec 0 (Q * 0)); [lra|]. rewrite total_scaled, <- Z. lra. }
      split.
      * simpl. split; auto. split; auto. intros C. rewrite <- R; auto.
      * intros f. simpl. destruct (Rle_lt_or_eq_dec _ _ (proj1 B)) as [C|C]; [rewrite <- R; auto|].
        rewrite <- C. lra.
Qed.

End Walk.

(** ** One call, and a text *)

Definition naive_code_iteration (t : context -> row) (depth : nat) (c : context) : program (option stop) :=
  run_code t q at_leaf (hsd_naive.verify V) false (chain q depth c) c.

Definition stops_well (t : context -> row) (c : context) (depth : nat) (found : option stop) : Prop :=
  match found with Some s => good V q t c depth s | None => False end.

Lemma naive_is_greedy : forall t depth c, (forall c x, 0 <= t c x) -> lawful V t c ->
  proper V (naive_code_iteration t depth c) (stops_well t c depth) /\
  forall f, mean (naive_code_iteration t depth c) f = mean (greedy_code_iteration V q at_leaf t depth c) f.
Proof.
  intros t depth c N H. pose proof (greedy_code_proper V q at_leaf q_rows t depth c N H) as G.
  rewrite (greedy_code_from V q at_leaf t depth c) in *. unfold naive_code_iteration. rewrite code_chain.
  apply proper_inside in G.
  pose proof (proper_and V _ _ _ _ G (path_possible V q q_rows true depth c)) as B.
  assert (K : forall path,
    proper V (or_else (greedy_below V q t path c 1 1) (beyond V (greedy_residual t q) path c (1, 1))) (stops_well t c depth) /\
    possible V q true (as_children path) c (q c) ->
    let code := shown (hsd_naive.verify V (size (as_children path)) (chained q at_leaf path c) t) in
    proper V code (stops_well t c depth) /\
    forall f, mean code f =
      mean (or_else (greedy_below V q t path c 1 1) (beyond V (greedy_residual t q) path c (1, 1))) f).
  { intros path [P D] code. unfold code. rewrite hsd_naive_code. unfold or_else in *. rewrite greedy_is_walk in *.
    replace (beyond V (naive_residual t q) path c 1) with (beyond V (greedy_residual t q) path c (1, 1)).
    - apply (one_step _ _ _ _ _ P).
      + intros post W H'. apply below_alike; auto; try lra. apply (possible_drafted V q true path c (q c) D). auto.
      + intros d r F. simpl in F. destruct F as [_ [[_ T] _]]. exact T.
      + intros found F. split; [exact F|reflexivity].
    - unfold beyond. destruct path; auto. rewrite (greedy_rows t 1 1 1 c) by lra. repeat f_equal.
      extensionality x. unfold scale. simpl. ring. }
  split.
  - apply (proper_bind V _ _ _ _ _ _ B). intros path F. apply K. exact F.
  - intros f. rewrite !mean_bind. apply (mean_ext_proper V _ _ _ _ _ B). intros path F. apply K. exact F.
Qed.

Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).

Fixpoint naive_code_text (iterations depth : nat) (t : context -> row) (c : context) : program context :=
  match iterations with
  | O => Return c
  | S fewer =>
      bind (naive_code_iteration t depth c) (fun found =>
        match found with
        | Some (d, r) => Choose r (fun y => naive_code_text fewer depth (carry V q t depth c d) (d ++ [y]))
        | None => Return c
        end)
  end.

Theorem hsd_naive_code_lossless : forall depth iterations u, (length u <= iterations)%nat ->
  (forall x, In x u -> In x (vocabulary V)) ->
  mean (naive_code_text iterations depth p []) (begins u) = joint p u [].
Proof.
  intros depth iterations u L U. rewrite <- (greedy_code_lossless V p q at_leaf p_rows q_rows depth iterations u L U).
  assert (H : forall n t c f, (forall c x, 0 <= t c x) -> lawful V t c ->
    mean (naive_code_text n depth t c) f = mean (greedy_code_text V q at_leaf n depth t c) f).
  { induction n as [|n IH]; intros t c f N H; [reflexivity|]. simpl. rewrite !mean_bind.
    destruct (naive_is_greedy t depth c N H) as [P E]. rewrite <- E.
    apply (mean_ext_proper V _ _ _ _ _ P). intros [[d r]|] G; [|contradiction]. destruct G as [_ [R G]]. simpl.
    apply total_ext. intros y.
    destruct (Rle_lt_or_eq_dec _ _ (proj1 R y)) as [S|Z]; [|rewrite <- Z; lra].
    rewrite IH; auto. intros. apply carry_nonneg; auto. }
  apply H; [intros; apply p_rows|intros e _; apply p_rows].
Qed.

(** In its first call it keeps every prefix with the smaller one of its two probabilities. *)
Theorem naive_accepts : forall depth u, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (naive_code_iteration p depth []) (accepts_if [] u) = Rmin (joint p u []) (joint q u []).
Proof.
  intros depth u L U. assert (N : forall c x, 0 <= p c x) by (intros; apply p_rows).
  assert (H : lawful V p []) by (intros e _; apply p_rows).
  rewrite (proj2 (naive_is_greedy p depth [] N H)), <- (greedy_accepts V q q_rows p [] depth N H u L U).
  rewrite greedy_code_from. apply (or_else_mean V _ _ _ _ (good V q p [] depth)). apply iteration_proper; auto.
Qed.

(** A word that is not accepted there is drawn again, by this or a later call, with the positive part of p - q of the
    word as its mass. *)
Theorem naive_resampled : forall depth iterations u, (length u <= depth)%nat -> (length u <= iterations)%nat ->
  (forall x, In x u -> In x (vocabulary V)) ->
  mean (naive_code_text iterations depth p []) (begins u) - mean (naive_code_iteration p depth []) (accepts_if [] u) =
  positive (joint p u [] - joint q u []).
Proof.
  intros depth iterations u L I U. rewrite hsd_naive_code_lossless, naive_accepts by auto.
  unfold positive, Rmin. simpl. destruct (Rlt_dec 0 _), (Rle_dec _ _); lra.
Qed.

End CodeNaive.
