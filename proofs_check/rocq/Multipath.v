(** Greedy multi-path block verification (thomas2026multipath) is lossless for every vocabulary, depth, number of paths and
    ranking of the tokens.

    The best path is the word [u] with the probability that every path is ranked at or below [u], less that of every
    path being ranked below it: two powers.  Token by token these are products of [best_law], so the best path is a
    chain drawn from it, and block verification is lossless on every chain. *)

Require Import Reals Lra Lia List Arith Bool Permutation.
Require Import Programs Rules Numbers Means Lossless Traversal Chains Paths BlockOptimal Texts BestPath.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Law.
Variable V : nat.
Variables p q : context -> row.
Variable K : nat.
Variable ranked : context -> list token.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Hypothesis distinct : forall c, NoDup (ranked c).
Hypothesis known : forall c x, In x (ranked c) -> In x (vocabulary V).
Hypothesis drafted : forall c x, In x (vocabulary V) -> 0 < q c x -> In x (ranked c).
Hypothesis some : (0 < K)%nat.
Notation total := (total V).
Notation mean := (mean V).
Notation draw_chain := (draw_chain q).
Notation under := (under ranked).
Notation words := (words V).
Notation standing := (standing q ranked).

(** ** How likely a path is ranked below a word *)

Definition sum (l : list token) (f : row) : R := fold_right (fun y s => f y + s) 0 l.

Lemma sum_total : forall l f, NoDup l -> (forall x, In x l -> In x (vocabulary V)) ->
  (forall x, In x (vocabulary V) -> ~ In x l -> f x = 0) -> total f = sum l f.
Proof.
  induction l as [|y l IH]; intros f N I Z; simpl.
  - rewrite (total_ext_in V _ (fun _ => 0 * 0)) by (intros; rewrite Z; auto; ring). rewrite total_mul. lra.
  - inversion N as [|? ? F N']; subst.
    rewrite (total_ext V f (fun x => f x * (if (y =? x)%nat then 1 else 0) + (if (y =? x)%nat then 0 else f x)))
      by (intros x; destruct (y =? x)%nat; ring).
    rewrite total_add, (total_single V f y 1) by (apply I; simpl; auto). rewrite Rmult_1_r. f_equal.
    rewrite (IH (fun x => if (y =? x)%nat then 0 else f x)); auto; [|intros; apply I; simpl; auto|].
    + clear - F. induction l as [|z l IH]; simpl; auto. rewrite IH by (simpl in F; tauto).
      destruct (Nat.eqb_spec y z) as [->|]; [simpl in F; tauto|auto].
    + intros x J G. destruct (Nat.eqb_spec y x) as [|D]; auto. apply Z; auto. simpl. tauto.
Qed.

(** The mass of the tokens ranked below [x], and of the words below [u]. *)
Definition below_mass (c : context) (x : token) : R := sum (before x (ranked c)) (q c).
Fixpoint words_below (u : list token) (c : context) : R :=
  match u with [] => 0 | x :: u => below_mass c x + q c x * words_below u (c ++ [x]) end.

Lemma below_total : forall c x, total (fun y => q c y * ind (lower ranked c y x)) = below_mass c x.
Proof.
  intros c x. rewrite (sum_total (before x (ranked c))).
  - unfold below_mass. assert (H : forall y, In y (before x (ranked c)) -> lower ranked c y x = true)
      by (intros y I; apply Nat.ltb_lt, before_rank; auto).
    induction (before x (ranked c)) as [|y l IH]; simpl in *; auto. rewrite (H y), IH by auto. simpl. lra.
  - apply before_distinct; auto.
  - intros y I. apply (known c), (before_known _ _ x). auto.
  - intros y _ N. unfold lower. destruct (Nat.ltb_spec (rank y (ranked c)) (rank x (ranked c))); simpl; [|lra].
    exfalso. apply N, before_rank. auto.
Qed.

Lemma under_mass : forall tie u c, Texts.known V u ->
  mean (draw_chain (length u) c) (fun path => ind (under tie u path c)) =
  words_below u c + (if tie then joint q u c else 0).
Proof.
  intros tie. induction u as [|x u IH]; intros c U; simpl; [destruct tie; simpl; lra|].
  destruct (known_tail V x u U) as [I U'].
  rewrite (total_ext V _ (fun y => q c y * ind (lower ranked c y x) +
    q c y * (if (x =? y)%nat then words_below u (c ++ [x]) + (if tie then joint q u (c ++ [x]) else 0) else 0))).
  - rewrite total_add, below_total, (total_single V (q c) x _ I). destruct tie; ring.
  - intros y. rewrite <- Rmult_plus_distr_l. f_equal. rewrite mean_bind. cbn [RealPrograms.mean BestPath.under].
    rewrite (Nat.eqb_sym y x). destruct (lower ranked c y x) eqn:L.
    + simpl. destruct (Nat.eqb_spec x y) as [->|]; [unfold lower in L; rewrite Nat.ltb_irrefl in L; discriminate|].
      rewrite (mean_const V _ _ _ _ (path_possible V q q_rows true (length u) (c ++ [y]))). lra.
    + simpl. destruct (Nat.eqb_spec x y) as [<-|]; simpl.
      * rewrite <- IH by auto. lra.
      * rewrite (mean_const V _ _ _ _ (path_possible V q q_rows true (length u) (c ++ [y]))). lra.
Qed.

(** ** Token by token *)

Definition in_block (JC : R * R) : R := power (snd JC) K - power (snd JC - fst JC) K.

Lemma power_pow : forall a k, power a k = a ^ k.
Proof. intros a. induction k as [|k IH]; simpl; congruence. Qed.

Lemma standing_is : forall u c J C,
  standing u c J C = (J * joint q u c, C - J + J * (words_below u c + joint q u c)).
Proof.
  induction u as [|x u IH]; intros c J C; simpl; [f_equal; ring|]. rewrite IH. unfold hi, lo, below_mass, sum. simpl.
  f_equal; ring.
Qed.

Lemma standing_snoc : forall u x c J C, standing (u ++ [x]) c J C =
  (let '(J, C) := standing u c J C in (J * q (c ++ u) x, hi q ranked (c ++ u) J C x)).
Proof.
  induction u as [|y u IH]; intros x c J C; simpl; [rewrite app_nil_r; auto|]. rewrite IH, <- app_assoc. auto.
Qed.

Lemma runs_product : forall A (m : program A) (g : A -> bool) k,
  mean (runs k m) (fun l => ind (forallb g l)) = power (mean m (fun a => ind (g a))) k.
Proof.
  intros A m g. induction k as [|k IH]; [reflexivity|]. simpl. rewrite mean_bind, <- IH.
  set (r := mean (runs k m) _). rewrite <- (Rmult_1_r (mean m _)), Rmult_1_r, Rmult_comm, <- mean_mul.
  apply mean_ext. intros a. rewrite mean_bind. simpl. unfold r. rewrite Rmult_comm, <- mean_mul. apply mean_ext. intros l.
  destruct (g a); simpl; lra.
Qed.

Lemma path_ranks : forall n c, proper V (draw_chain n c) (fun path => ranks ranked n path c).
Proof.
  induction n as [|n IH]; simpl; intros c; auto. split; [apply q_rows|]. intros x I P.
  apply (proper_bind V _ _ _ _ _ _ (IH (c ++ [x]))). simpl. auto.
Qed.

Lemma runs_some : forall A (m : program A) post k, proper V m post -> proper V (runs k m) (fun l => length l = k).
Proof.
  intros A m post k H. induction k as [|k IH]; simpl; auto. apply (proper_bind V _ _ _ _ _ _ H). intros a _.
  apply (proper_bind V _ _ _ _ _ _ IH). simpl. auto.
Qed.

Definition one_drawn (n : nat) (c : context) (path : list token) : Prop :=
  ranks ranked n path c /\ possible V q true (as_children path) c (q c).
Definition drawn (n : nat) (c : context) (paths : list (list token)) : Prop :=
  Forall (one_drawn n c) paths /\ paths <> [].

Lemma paths_drawn : forall n c, proper V (runs K (draw_chain n c)) (drawn n c).
Proof.
  intros n c. apply (proper_weaken V _ _ _ _ (proper_and V _ _ _ _ (runs_proper V _ _ _ K
    (proper_and V _ _ _ _ (path_ranks n c) (path_possible V q q_rows true n c))) (runs_some _ _ _ K (path_ranks n c)))).
    intros paths [F L]. split; auto. intros ->. simpl in L. lia.
Qed.

(** The best path is [u] with the mass of its block. *)
Lemma best_mass : forall n u c, length u = n -> Texts.known V u ->
  mean (runs K (draw_chain n c)) (fun paths => ind (same (best_path ranked n (merged paths) c) u)) =
  in_block (standing u c 1 1).
Proof.
  intros n u c L U. rewrite (mean_ext_proper V _ _ _ _ (fun paths =>
    ind (all_under ranked true u c paths) - ind (all_under ranked false u c paths)) (paths_drawn n c)).
  - rewrite mean_sub. unfold all_under. rewrite !runs_product. subst n. rewrite !under_mass by auto.
    rewrite standing_is. unfold in_block. simpl. f_equal; f_equal; ring.
  - intros paths [F N]. apply best_is; auto. apply (Forall_impl _ (fun path H => proj1 H) F).
Qed.

Lemma below_nonneg : forall c x, 0 <= below_mass c x.
Proof.
  intros c x. unfold below_mass. induction (before x (ranked c)) as [|y l IH]; simpl; [lra|].
  pose proof (proj1 (q_rows c) y). lra.
Qed.

Lemma standing_bounds : forall u c, let '(J, C) := standing u c 1 1 in 0 <= J <= C.
Proof.
  intros u c. rewrite standing_is. assert (A : forall u c, 0 <= joint q u c).
  { clear u c. induction u as [|x u IH]; intros c; simpl; [lra|]. apply Rmult_le_pos; auto. apply q_rows. }
  assert (B : forall u c, 0 <= words_below u c).
  { clear u c. induction u as [|x u IH]; intros c; simpl; [lra|]. apply Rplus_le_le_0_compat.
    - apply below_nonneg.
    - apply Rmult_le_pos; auto. apply q_rows. }
  pose proof (A u c). pose proof (B u c). lra.
Qed.

Lemma block_range : forall J C, 0 <= J <= C -> 0 <= in_block (J, C).
Proof.
  intros J C B. unfold in_block. cbn [fst snd]. rewrite (power_pow C K), (power_pow (C - J) K).
  assert ((C - J) ^ K <= C ^ K) by (apply pow_incr; lra). lra.
Qed.

Lemma block_positive : forall J C, 0 < J <= C -> 0 < in_block (J, C).
Proof.
  intros J C B. unfold in_block. cbn [fst snd]. rewrite (power_pow C K), (power_pow (C - J) K).
  destruct K as [|k]; [lia|]. simpl.
  assert ((C - J) ^ k <= C ^ k) by (apply pow_incr; lra). assert (0 < C ^ k) by (apply pow_lt; lra).
  assert ((C - J) * (C - J) ^ k <= (C - J) * C ^ k) by (apply Rmult_le_compat_l; lra).
  assert (0 < J * C ^ k) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma block_empty : forall C, in_block (0, C) = 0.
Proof. intros C. unfold in_block. simpl. rewrite Rminus_0_r. lra. Qed.

Lemma next_range : forall c J C x, 0 <= J <= C -> 0 <= in_block (J * q c x, hi q ranked c J C x).
Proof.
  intros c J C x B. apply block_range. unfold hi, lo. simpl.
  change (fold_right _ 0 (before x (ranked c))) with (below_mass c x).
  pose proof (Rmult_le_pos J (q c x) (proj1 B) (proj1 (q_rows c) x)).
  pose proof (Rmult_le_pos J (below_mass c x) (proj1 B) (below_nonneg c x)). lra.
Qed.

(** The blocks of the next tokens fill the block. *)
Lemma next_blocks : forall c J C, total (fun x => power (hi q ranked c J C x) K - power (lo q ranked c J C x) K) =
  in_block (J, C).
Proof.
  intros c J C. assert (Z : forall x, In x (vocabulary V) -> ~ In x (ranked c) -> q c x = 0).
  { intros x I N. destruct (Rle_lt_or_eq_dec _ _ (proj1 (q_rows c) x)) as [P|]; auto. exfalso. apply N, drafted; auto. }
  rewrite (sum_total (ranked c)); auto.
  - assert (T : forall order a, NoDup order -> sum order (fun x =>
      power (a + J * sum (before x order) (q c) + J * q c x) K - power (a + J * sum (before x order) (q c)) K) =
      power (a + J * sum order (q c)) K - power a K).
    { induction order as [|y order IH]; intros a N; [simpl; rewrite Rmult_0_r, Rplus_0_r; lra|].
      inversion N as [|? ? F N']; subst. cbn [sum fold_right before]. rewrite Nat.eqb_refl. cbn [sum fold_right].
      fold (sum order (q c)). rewrite Rmult_0_r, Rplus_0_r, Rmult_plus_distr_l, <- Rplus_assoc.
      replace (fold_right _ 0 order) with (power (a + J * q c y + J * sum order (q c)) K - power (a + J * q c y) K); [lra|].
      rewrite <- IH by auto. unfold sum at 1. assert (G : forall l, ~ In y l -> forall f g : row,
        (forall x, x <> y -> f x = g x) -> fold_right (fun x s => f x + s) 0 l = fold_right (fun x s => g x + s) 0 l).
      { induction l as [|z l IHl]; simpl; intros M f g E; auto. rewrite (E z), (IHl ltac:(tauto) f g E) by auto. auto. }
      apply G; auto. intros x D. destruct (Nat.eqb_spec y x); [congruence|]. cbn [fold_right].
      fold (sum (before x order) (q c)). f_equal; (apply (f_equal (fun a => power a K)); ring). }
    transitivity (power (C - J + J * sum (ranked c) (q c)) K - power (C - J) K); [exact (T (ranked c) (C - J) (distinct
      c))|].
    rewrite <- (sum_total (ranked c) (q c)) by eauto. rewrite (proj2 (q_rows c)). unfold in_block. cbn [fst snd].
    replace (C - J + J * 1) with C by ring. auto.
  - exact (known c).
  - intros x I N. unfold hi. rewrite (Z x I N). simpl. rewrite Rmult_0_r, Rplus_0_r. ring.
Qed.

(** The law of the best path's next token; any law where no path comes. *)
Definition law (start c : context) : row :=
  if Rlt_dec 0 (in_block (standing (skipn (length start) c) (firstn (length start) c) 1 1))
  then best_law q K ranked (length start) c else p c.

Definition mass (start u : context) : R := in_block (standing u start 1 1).

Lemma split_at : forall start u : context, skipn (length start) (start ++ u) = u /\ firstn (length start) (start ++ u) =
  start.
Proof.
  induction start as [|x start IH]; intros u; simpl; [auto|]. destruct (IH u) as [A B]. rewrite A, B. auto.
Qed.

Lemma law_at : forall start u x, 0 < mass start u -> law start (start ++ u) x = mass start (u ++ [x]) / mass start u.
Proof.
  intros start u x. unfold law, best_law, mass. destruct (split_at start u) as [A B]. rewrite A, B, standing_snoc. cbn zeta.
  destruct (standing u start 1 1) as [J C]. intros P. destruct (Rlt_dec 0 (in_block (J, C))); [|contradiction].
  unfold in_block. simpl. f_equal. f_equal. f_equal. unfold hi. simpl. ring.
Qed.

Lemma law_rows : forall start c, is_row V (law start c).
Proof.
  intros start c. unfold law, best_law. pose proof (standing_bounds (skipn (length start) c) (firstn (length start) c))
    as B.
  destruct (standing _ _ 1 1) as [J C]. destruct (Rlt_dec 0 (in_block (J, C))) as [P|]; [|apply p_rows].
  split.
  - intros x. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; auto]. pose proof (next_range c J C x B) as R.
    unfold in_block in R. cbn [fst snd] in R.
    replace (hi q ranked c J C x - J * q c x) with (lo q ranked c J C x) in R by (unfold hi; simpl; ring). auto.
  - rewrite total_div, next_blocks. unfold Rdiv. apply Rinv_r, Rgt_not_eq. exact P.
Qed.

Lemma joint_law : forall start u, joint (law start) u start = mass start u.
Proof.
  intros start. induction u as [|x u IH] using rev_ind.
  - unfold mass, in_block. cbn [fst snd joint RealPrograms.joint RealPrograms.standing].
    rewrite (power_pow 1 K), (power_pow (1 - 1) K), pow1, Rminus_eq_0, pow_i by auto. lra.
  - rewrite joint_snoc, IH. pose proof (standing_bounds u start) as B. destruct (Rlt_dec 0 (mass start u)) as [P|N].
    + rewrite law_at by auto. field. lra.
    + assert (Z : mass start u = 0 /\ mass start (u ++ [x]) = 0).
      { unfold mass in *. rewrite standing_snoc. destruct (standing u start 1 1) as [J C].
        assert (J = 0) as ->.
        { destruct (Rle_lt_or_eq_dec 0 J (proj1 B)) as [L|]; [|lra]. exfalso. apply N, block_positive. lra. }
        rewrite Rmult_0_l, !block_empty. auto. }
      destruct Z as [-> ->]. ring.
Qed.

(** ** The best path is a chain drawn from its law *)

Lemma mean_chain : forall rows n c f, mean (RealPrograms.draw_chain rows n c) f = words n (fun u => joint rows u c * f u).
Proof.
  intros rows. induction n as [|n IH]; intros c f; simpl; [ring|]. apply total_ext. intros x. rewrite mean_bind. simpl.
  rewrite IH, <- words_mul. apply words_ext. intros. ring.
Qed.

Lemma words_same : forall n v f, length v = n -> Texts.known V v -> words n (fun u => ind (same v u) * f u) = f v.
Proof.
  induction n as [|n IH]; intros [|y v] f L U; try discriminate; [simpl; ring|]. destruct (known_tail V y v U) as [I U'].
  injection L as L. simpl. rewrite <- (IH v (fun u => f (y :: u)) L U'), <- (Rmult_1_l (words n _)).
  rewrite <- (total_single V (fun _ => 1) y _ I). apply total_ext. intros x.
  destruct (Nat.eqb_spec y x) as [<-|]; [simpl; lra|].
  rewrite (words_ext V n _ (fun _ => 0 * 0)) by (intros; simpl; lra). rewrite words_mul. lra.
Qed.

Lemma ranks_word : forall n path c, ranks ranked n path c -> length path = n /\ Texts.known V path.
Proof.
  induction n as [|n IH]; intros [|x path] c R; simpl in R; try contradiction; [split; [auto|intros x []]|].
  destruct R as [I R]. destruct (IH _ _ R) as [L U]. split; [simpl; auto|]. apply known_cons; eauto.
Qed.

Theorem best_path_law : forall n c f,
  mean (runs K (draw_chain n c)) (fun paths => f (best_path ranked n (merged paths) c)) =
  mean (RealPrograms.draw_chain (law c) n c) f.
Proof.
  intros n c f. rewrite mean_chain, (mean_ext_proper V _ _ _ _ (fun paths =>
    words n (fun u => f u * ind (same (best_path ranked n (merged paths) c) u))) (paths_drawn n c)).
  - rewrite mean_words. apply words_ext. intros u L U. rewrite mean_mul, (best_mass n) by auto.
    rewrite joint_law. unfold mass. ring.
  - intros paths [F N]. assert (R : Forall (fun path => ranks ranked n path c) paths) by (apply (Forall_impl _ (fun path
      H => proj1 H) F)).
    pose proof (best_in ranked distinct n c paths N R) as I. rewrite Forall_forall in R.
    destruct (ranks_word _ _ _ (R _ I)) as [L U].
    rewrite <- (words_same n _ f L U). apply words_ext. intros. ring.
Qed.

(** ** The theorems *)

Lemma drawn_mass : forall start u x, 0 < fst (standing u start 1 1) -> 0 < q (start ++ u) x -> 0 < fst (standing (u ++
  [x]) start 1 1).
Proof.
  intros start u x. rewrite standing_snoc. destruct (standing u start 1 1) as [J C]. simpl. apply Rmult_lt_0_compat.
Qed.

Lemma fst_mass : forall start u, 0 < fst (standing u start 1 1) -> 0 < mass start u.
Proof.
  intros start u P. unfold mass. pose proof (standing_bounds u start). destruct (standing u start 1 1) as [J C].
  apply block_positive. simpl in P. lra.
Qed.

Lemma same_block : forall start path u w, 0 < fst (standing u start 1 1) ->
  possible V q true (as_children path) (start ++ u) (q (start ++ u)) ->
  block_below V p (best_law q K ranked (length start)) path (start ++ u) w = block_below V p (law start) path (start ++
    u) w /\
  possible V (law start) true (as_children path) (start ++ u) (law start (start ++ u)).
Proof.
  intros start. induction path as [|x path IH]; intros u w P H; [simpl; auto|]. destruct H as [I [Q [H _]]].
  assert (E : law start (start ++ u) = best_law q K ranked (length start) (start ++ u)).
  { unfold law. destruct (split_at start u) as [A B]. rewrite A, B. destruct (Rlt_dec _ _) as [|N]; auto.
    exfalso. apply N, fst_mass. auto. }
  pose proof (drawn_mass start u x P Q) as P'. rewrite <- app_assoc in H.
  destruct (IH (u ++ [x]) (share (w * p (start ++ u) x) (law start (start ++ u) x)) P' H) as [B L]. split.
  - simpl. rewrite <- !E. rewrite <- app_assoc. simpl. rewrite B. reflexivity.
  - simpl. rewrite <- app_assoc. simpl. repeat split; auto. rewrite law_at by (apply fst_mass; auto).
    apply Rmult_lt_0_compat; [|apply Rinv_0_lt_compat]; apply fst_mass; auto.
Qed.

Lemma multipath_is_block : forall depth c f, mean (multipath_block V p q K ranked depth c) f =
  mean (block_iteration V p (law c) depth c) f.
Proof.
  intros depth c f. unfold multipath_block, draw_paths, block_iteration. rewrite !mean_bind.
  rewrite <- best_path_law. apply (mean_ext_proper V _ _ _ _ _ (paths_drawn depth c)). intros paths [F N]. simpl.
  pose proof (best_in ranked distinct depth c paths N (Forall_impl _ (fun path H => proj1 H) F)) as I.
  rewrite Forall_forall in F. destruct (F _ I) as [_ H]. unfold block_verify.
  pose proof (same_block c (best_path ranked depth (merged paths) c) [] 1 Rlt_0_1) as S. rewrite app_nil_r in S.
  rewrite (proj1 (S H)). auto.
Qed.

Theorem multipath_lossless : forall depth c, lossless_if V p c (multipath_block V p q K ranked depth c).
Proof.
  intros depth c. destruct (block_lossless V p (law c) p_rows (law_rows c) depth c) as [L R].
  split; [intros G HG; rewrite <- (L G HG)|rewrite <- R]; apply multipath_is_block.
Qed.

Theorem multipath_proper : forall depth c, proper V (multipath_block V p q K ranked depth c)
  (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros depth c. unfold multipath_block, draw_paths.
  apply (proper_bind V _ _ _ _ (fun siblings => exists paths, siblings = merged paths /\ drawn depth c paths)).
  - apply (proper_bind V _ _ _ _ _ _ (paths_drawn depth c)). intros paths D. simpl. eauto.
  - intros siblings [paths [-> [F N]]].
    pose proof (best_in ranked distinct depth c paths N (Forall_impl _ (fun path H => proj1 H) F)) as I.
    rewrite Forall_forall in F. destruct (F _ I) as [_ H]. unfold block_verify.
    pose proof (same_block c (best_path ranked depth (merged paths) c) [] 1 Rlt_0_1) as S. rewrite app_nil_r in S.
    destruct (S H) as [-> P].
    apply (block_path_proper V p (law c) p_rows (law_rows c)). auto.
Qed.

End Law.

(** ** Ranked by p/q, as the code does *)

Section ByShare.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).

Lemma placed : forall better l, Permutation (fold_right (place better) [] l) l.
Proof.
  assert (P : forall better x l, Permutation (place better x l) (x :: l)).
  { intros better x. induction l as [|y l IH]; simpl; auto. destruct (better y x); auto.
    apply (Permutation_trans (perm_skip y IH)), perm_swap. }
  intros better. induction l as [|x l IH]; simpl; auto. apply (Permutation_trans (P _ _ _)), perm_skip, IH.
Qed.

Theorem multipath_block_lossless : forall K, (0 < K)%nat -> forall depth c,
  let iteration := multipath_block V p q K (by_share V p q) depth c in
  lossless_if V p c iteration /\
  proper V iteration (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  assert (I : forall c x, In x (by_share V p q c) <-> In x (vocabulary V) /\ 0 < q c x).
  { intros c x. unfold by_share. split; intros I.
    - apply (Permutation_in _ (placed _ _)), filter_In in I. destruct I as [I L]. rewrite <- in_rev in I. split; auto.
      simpl in L. destruct (Rlt_dec 0 (q c x)); [auto|discriminate].
    - destruct I as [I L]. apply (Permutation_in _ (Permutation_sym (placed _ _))), filter_In.
      split; [apply in_rev; rewrite rev_involutive; auto|].
      simpl. destruct (Rlt_dec 0 (q c x)); [auto|contradiction]. }
  assert (N : forall c, NoDup (by_share V p q c)).
  { intros c. apply (Permutation_NoDup (Permutation_sym (placed _ _))), NoDup_filter, NoDup_rev, seq_NoDup. }
  assert (A : forall c x, In x (by_share V p q c) -> In x (vocabulary V)) by (intros c x H; apply (proj1 (I c x) H)).
  assert (B : forall c x, In x (vocabulary V) -> 0 < q c x -> In x (by_share V p q c)) by (intros; apply I; auto).
  intros K P depth c. split; [apply multipath_lossless|apply multipath_proper]; auto.
Qed.

End ByShare.
