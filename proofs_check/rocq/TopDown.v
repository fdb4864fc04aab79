(** Three rules that go from the root down and hardly look at the draft.

    Naive sampling (miao2024specinfer) and the one-hot rule (li2024eagle2) are lossless on every tree there is, so
    also on every draft.  Token verification of the first child (thomas2026delayed) is lossless on every draft
    whose first children are drawn from q, whatever the later siblings are. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means Lossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section TopDown.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation without := (without V).
Notation nss := (nss p).
Notation nss_node := (nss_node p).
Notation naive_tree := (naive_tree V p q).
Notation naive_node := (naive_node V p q).
Notation one_hot := (one_hot V p).

Lemma total_point : forall f y, In y (vocabulary V) -> total (fun z => point y z * f z) = f y.
Proof.
  intros f y I. rewrite <- (Rmult_1_r (f y)), <- (total_single V f y 1 I). apply total_ext. intros z.
  unfold point. simpl. rewrite (Nat.eqb_sym y z). destruct (z =? y)%nat; ring.
Qed.

Lemma point_row : forall y, In y (vocabulary V) -> is_row V (point y).
Proof.
  intros y I. split.
  - intros z. unfold point. simpl. destruct (z =? y)%nat; lra.
  - rewrite <- (total_point (fun _ => 1) y I). apply total_ext. intros; ring.
Qed.

Lemma stops_here : forall c r, is_row V r -> stops_below V c (c, r).
Proof. intros c r R. split; auto. exists []. rewrite app_nil_r. auto. Qed.

(** A tree whose tokens are in the vocabulary. *)
Fixpoint known (siblings : children) : Prop :=
  match siblings with NoChild => True | Child x below rest => In x (vocabulary V) /\ known below /\ known rest end.

Lemma possible_known : forall replacement siblings c r, possible V q replacement siblings c r -> known siblings.
Proof.
  intros replacement. induction siblings as [|x below IHb rest IHr]; simpl; auto.
  intros c r [I [_ [B R]]]. repeat split; auto; [apply (IHb _ _ B)|apply (IHr _ _ R)].
Qed.

(** ** Naive sampling *)

Lemma nss_follows : forall G, harmonic V p G -> forall siblings c,
  mean (nss siblings c) (emitted V G) = G c /\
  forall y, In y (vocabulary V) -> mean (descend nss_node siblings c y) (emitted V G) = G (c ++ [y]).
Proof.
  intros G HG.
  assert (N : forall siblings c,
    (forall y, In y (vocabulary V) -> mean (descend nss_node siblings c y) (emitted V G) = G (c ++ [y])) ->
    mean (nss siblings c) (emitted V G) = G c).
  { intros [|x below rest] c H; rewrite (HG c); [reflexivity|]. apply total_ext_in. intros y I. rewrite H; auto. }
  induction siblings as [|x below IHb rest IHr]; intros c.
  - assert (H : forall y, In y (vocabulary V) -> mean (descend nss_node NoChild c y) (emitted V G) = G (c ++ [y]))
      by (intros y I; apply (total_point (fun z => G (c ++ [z])) y I)).
    split; [apply N|]; auto.
  - assert (H : forall y, In y (vocabulary V) ->
      mean (descend nss_node (Child x below rest) c y) (emitted V G) = G (c ++ [y])).
    { intros y I. simpl. destruct (x =? y)%nat; [apply (IHb (c ++ [y]))|apply (IHr c)]; auto. }
    split; [apply N|]; auto.
Qed.

Theorem nss_lossless : forall draft c, proper V draft (fun _ => True) ->
  lossless V p c (bind draft (fun siblings => nss siblings c)).
Proof.
  intros draft c D G HG. rewrite mean_bind, (mean_ext V _ _ _ (fun _ => G c)); [apply (mean_const V _ _ _ _ D)|].
  intros siblings. apply nss_follows. auto.
Qed.

Theorem nss_proper : forall siblings c, proper V (nss siblings c) (stops_below V c).
Proof.
  assert (N : forall siblings c,
    (forall y, In y (vocabulary V) -> proper V (descend nss_node siblings c y) (stops_below V c)) ->
    proper V (nss siblings c) (stops_below V c)).
  { intros [|x below rest] c H; simpl; [apply stops_here; auto|]. split; auto. intros y I _. apply (H y I). }
  assert (H : forall siblings c y, In y (vocabulary V) -> proper V (descend nss_node siblings c y) (stops_below V c)).
  { induction siblings as [|x below IHb rest IHr]; intros c y I; simpl.
    - apply stops_here, point_row. auto.
    - destruct (x =? y)%nat; auto.
      apply (proper_weaken V _ _ (stops_below V (c ++ [y]))); [|apply stops_deeper]. apply N. auto. }
  auto.
Qed.

(** ** The one-hot rule *)

Lemma one_hot_follows : forall G, harmonic V p G -> forall siblings c p_c, known siblings -> is_row V p_c ->
  mean (one_hot siblings c p_c) (emitted V G) = total (fun y => p_c y * G (c ++ [y])).
Proof.
  intros G HG. induction siblings as [|x below IHb rest IHr]; intros c p_c K R; simpl; auto.
  destruct K as [I [Kb Kr]]. rewrite (with_or_without V p_c R x I), IHb, <- (HG (c ++ [x])) by auto. f_equal.
  destruct (Rlt_dec (p_c x) 1) as [L|L].
  - rewrite IHr; auto. apply without_row; auto.
  - pose proof (first_mass V p_c R x I). replace (1 - p_c x) with 0 by lra. ring.
Qed.

Theorem one_hot_lossless : forall draft c, proper V draft known ->
  lossless V p c (bind draft (fun siblings => one_hot siblings c (p c))).
Proof.
  intros draft c D G HG. rewrite mean_bind, (mean_ext_proper V _ _ _ _ (fun _ => G c) D).
  - apply (mean_const V _ _ _ _ D).
  - intros siblings K. rewrite (one_hot_follows G HG), (HG c); auto.
Qed.

Theorem one_hot_proper : forall siblings c p_c, known siblings -> is_row V p_c ->
  proper V (one_hot siblings c p_c) (stops_below V c).
Proof.
  induction siblings as [|x below IHb rest IHr]; intros c p_c K R; simpl; [apply stops_here; auto|].
  destruct K as [I [Kb Kr]]. split; [apply (first_mass V p_c R x I)|]. split; intros L.
  - apply (proper_weaken V _ _ (stops_below V (c ++ [x]))); [auto|apply stops_deeper].
  - apply IHr; auto. apply without_row; auto.
Qed.

(** ** Token verification of the first child *)

Section NaiveTree.
Variable next : row -> token -> row -> Prop.

Theorem naive_follows : forall G, harmonic V p G -> forall c r draft, sampled V q next c r draft ->
  (forall y, In y (vocabulary V) ->
    mean (bind draft (fun siblings => descend naive_node siblings c y)) (emitted V G) = G (c ++ [y])) /\
  (r = q c -> mean (bind draft (fun siblings => naive_tree siblings c)) (emitted V G) = G c).
Proof.
  intros G HG c r draft H.
  induction H as [c r|c r decision decide taken below rest row_after R D N B IHb S IHr|c r m m' H IH E].
  - split; simpl; [apply (total_point (fun z => G (c ++ [z])))|]. intros _. rewrite (HG c). auto.
  - (* what comes out of the node after its first child and the decision are known *)
    assert (X : forall x d y, In x (vocabulary V) -> taken x d -> In y (vocabulary V) ->
      mean (below x d) (fun drawn_below => mean (rest x d) (fun drawn_rest =>
        mean (descend naive_node (Child x drawn_below drawn_rest) c y) (emitted V G))) = G (c ++ [y])).
    { intros x d y I K J. simpl. destruct (Nat.eqb_spec x y) as [->|_].
      - rewrite (mean_ext V _ _ _ (fun drawn => mean (naive_tree drawn (c ++ [y])) (emitted V G)))
          by (intros; apply (mean_sampled V q next c _ _ (S y d K))).
        rewrite <- mean_bind. apply (IHb y d K). auto.
      - rewrite (mean_sampled V q next _ _ _ (B x d K)), <- mean_bind. apply (IHr x d K). auto. }
    split; simpl.
    + intros y J. rewrite (total_ext_in V _ (fun x => r x * G (c ++ [y]))).
      * rewrite total_mul_right. destruct R as [_ ->]. ring.
      * intros x I. f_equal. rewrite !mean_bind, (mean_ext_proper V _ _ _ _ (fun _ => G (c ++ [y])) (D x I)).
        -- apply (mean_const V _ _ _ _ (D x I)).
        -- intros d K. rewrite mean_bind, <- (X x d y) by auto. apply mean_ext. intros. rewrite mean_bind. auto.
    + intros ->. destruct (p_rows c) as [Np Sp]. set (res := excess (p c) (q c)).
      set (G' := total (fun y => normalise res y * G (c ++ [y]))).
      assert (M : total (fun x => q c x * (1 - share (p c x) (q c x))) = total res)
        by (unfold res; rewrite (rejected_mass V (p c) (q c) Np R), Sp; lra).
      assert (W : total res * G' = total (fun y => res y * G (c ++ [y]))).
      { assert (Nr : forall x, 0 <= res x) by (intros; apply excess_nonneg).
        unfold G'. rewrite <- total_mul. apply total_ext_in. intros y I.
        destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V res Nr)) as [T|Z].
        - rewrite <- Rmult_assoc, normalise_total; auto.
        - rewrite (total_zero V res Nr (eq_sym Z) y I), <- Z. ring. }
      rewrite (total_ext_in V _ (fun x => q c x * share (p c x) (q c x) * G (c ++ [x]) +
                                          q c x * (1 - share (p c x) (q c x)) * G')).
      * rewrite total_add, total_mul_right, M, W, <- total_add, (HG c). apply total_ext. intros x.
        rewrite <- Rmult_plus_distr_r. f_equal. apply (accepted_and_residual V (p c) (q c) Np R).
      * intros x I. rewrite !mean_bind.
        rewrite (mean_ext_proper V _ _ _ _ (fun _ => share (p c x) (q c x) * G (c ++ [x]) +
                                                     (1 - share (p c x) (q c x)) * G') (D x I)).
        -- rewrite (mean_const V _ _ _ _ (D x I)). ring.
        -- intros d K. rewrite mean_bind.
           set (out := fun y => mean (below x d) (fun drawn_below => mean (rest x d) (fun drawn_rest =>
             mean (descend naive_node (Child x drawn_below drawn_rest) c y) (emitted V G)))).
           transitivity (share (p c x) (q c x) * out x +
                         (1 - share (p c x) (q c x)) * total (fun y => normalise res y * out y)).
           ++ unfold out. rewrite <- (mean_mul V _ (below x d) (share _ _)).
              rewrite (total_ext V _ (fun y => mean (below x d) (fun drawn_below => mean (rest x d) (fun drawn_rest =>
                normalise res y * mean (descend naive_node (Child x drawn_below drawn_rest) c y) (emitted V G)))))
                by (intros; rewrite <- mean_mul; apply mean_ext; intros; rewrite mean_mul; auto).
              rewrite <- mean_total, <- mean_mul, <- mean_add. apply mean_ext. intros drawn_below.
              rewrite mean_bind, <- mean_total, <- !mean_mul, <- mean_add. apply mean_ext. intros drawn_rest.
              reflexivity.
           ++ unfold out at 1. rewrite X by auto. do 2 f_equal. apply total_ext_in. intros y J.
              unfold out. rewrite X; auto.
  - destruct IH as [I1 I2]. split.
    + intros y J. rewrite mean_bind, E, <- mean_bind. auto.
    + intros K. rewrite mean_bind, E, <- mean_bind. auto.
Qed.

Theorem naive_tree_lossless : forall c draft, sampled V q next c (q c) draft ->
  lossless V p c (bind draft (fun siblings => naive_tree siblings c)).
Proof. intros c draft D G HG. apply (naive_follows G HG c (q c) draft D). auto. Qed.

End NaiveTree.

Theorem naive_tree_proper : forall replacement siblings c, possible V q replacement siblings c (q c) ->
  proper V (naive_tree siblings c) (stops_below V c).
Proof.
  intros replacement.
  assert (N : forall siblings c, possible V q replacement siblings c (q c) ->
    (forall y, In y (vocabulary V) -> proper V (descend naive_node siblings c y) (stops_below V c)) ->
    proper V (naive_tree siblings c) (stops_below V c)).
  { intros [|x below rest] c P H; simpl; [apply stops_here; auto|]. destruct P as [I [L _]].
    destruct (p_rows c) as [Np Sp]. split; [apply share_bounds; auto|]. split; intros K; [apply (H x I)|].
    split; [|intros y J _; apply (H y J)]. apply normalise_row; [intros; apply excess_nonneg|].
    pose proof (rejected_mass V (p c) (q c) Np (q_rows c)) as J. rewrite Sp in J.
    assert (F : forall y, 0 <= q c y * (1 - share (p c y) (q c y)))
      by (intros; apply (rejection_nonneg V (p c) (q c) Np (q_rows c))).
    destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ F)) as [|Z]; [lra|].
    pose proof (total_zero V _ F (eq_sym Z) x I) as Zx. simpl in Zx.
    assert (0 < q c x * (1 - share (p c x) (q c x))) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (H : forall siblings c r y, possible V q replacement siblings c r -> In y (vocabulary V) ->
    proper V (descend naive_node siblings c y) (stops_below V c)).
  { induction siblings as [|x below IHb rest IHr]; intros c r y P I; simpl.
    - apply stops_here, point_row. auto.
    - destruct P as [J [L [Pb Pr]]]. destruct (Nat.eqb_spec x y) as [->|_]; [|apply (IHr c _ y Pr I)].
      apply (proper_weaken V _ _ (stops_below V (c ++ [y]))); [|apply stops_deeper].
      apply N; auto. intros z K. apply (IHb (c ++ [y]) _ z Pb K). }
  intros siblings c P. apply N; auto. intros y I. apply (H siblings c _ y P I).
Qed.

End TopDown.
