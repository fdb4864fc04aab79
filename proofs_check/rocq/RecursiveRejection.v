(** Recursive rejection is lossless on every tree, with replacement (miao2024specinfer, Algorithm 2) and without
    (jeon2024recursive, Algorithm 1).

    Siblings are drawn in order.  The statement that the induction carries: with the row [p_c] at a node, whatever
    siblings are still to be drawn, what is emitted at and below the node follows [p_c] and then the target. *)

Require Import Reals Lra List.
Require Import Programs Numbers Means Lossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section RecursiveRejection.
Variable V : nat.
Variables p q : context -> row.
Variable replacement : bool.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation sampled := (sampled V q (in_order V replacement)).
Notation recursive_rejection := (recursive_rejection V p q replacement).
Notation after := (after V replacement).

(** Draft below [c], then try the children in turn. *)
Definition node (draft : program children) (c : context) (p_c q_c : row) : program stop :=
  bind draft (fun siblings => recursive_rejection siblings c p_c q_c).

(** The later siblings need not be drawn before the first one, [x], is rejected. *)
Lemma first_child_first : forall below rest c r d s x p_c q_c f, sampled d s below -> sampled c r rest ->
  mean (bind (bind below (fun drawn_below => bind rest (fun drawn_rest => Return (Child x drawn_below drawn_rest))))
             (fun siblings => recursive_rejection siblings c p_c q_c)) f =
  share (p_c x) (q_c x) * mean (node below (c ++ [x]) (p (c ++ [x])) (q (c ++ [x]))) f +
  (1 - share (p_c x) (q_c x)) * mean (node rest c (normalise (excess p_c q_c)) (after q_c x)) f.
Proof.
  intros below rest c r e s x p_c q_c f B H. unfold node. rewrite !mean_bind.
  rewrite (mean_ext V _ _ _ (fun drawn =>
    share (p_c x) (q_c x) * mean (recursive_rejection drawn (c ++ [x]) (p (c ++ [x])) (q (c ++ [x]))) f +
    (1 - share (p_c x) (q_c x)) *
      mean rest (fun later => mean (recursive_rejection later c (normalise (excess p_c q_c)) (after q_c x)) f))).
  - rewrite mean_add, !mean_mul, (mean_sampled V q _ e s below B). auto.
  - intros drawn. rewrite mean_bind. simpl. rewrite mean_add, !mean_mul.
    rewrite (mean_sampled V q _ c r rest H). auto.
Qed.

Theorem node_follows : forall G, harmonic V p G -> forall c q_c draft, sampled c q_c draft ->
  forall p_c, is_row V p_c ->
  mean (node draft c p_c q_c) (emitted V G) = total (fun y => p_c y * G (c ++ [y])).
Proof.
  intros G HG c q_c draft H.
  induction H as [c q_c|c q_c decision decide taken below rest row_after Q D F B IHb L IHr|c q_c m m' H IH E];
    intros p_c P; unfold node; simpl; auto.
  - destruct P as [N S]. set (r := excess p_c q_c).
    assert (R : forall x, 0 <= r x) by (intros; apply excess_nonneg).
    assert (J : total (fun x => q_c x * (1 - share (p_c x) (q_c x))) = total r)
      by (unfold r; rewrite (rejected_mass V p_c q_c N Q), S; lra).
    set (G' := total (fun y => normalise r y * G (c ++ [y]))).
    rewrite (total_ext_in V _ (fun x => q_c x * share (p_c x) (q_c x) * G (c ++ [x]) +
                                        q_c x * (1 - share (p_c x) (q_c x)) * G')).
    + rewrite total_add, total_mul_right, J.
      assert (W : total r * G' = total (fun y => r y * G (c ++ [y]))).
      { unfold G'. rewrite <- total_mul. apply total_ext_in. intros y I.
        destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V r R)) as [T|Z].
        - rewrite <- Rmult_assoc, normalise_total; auto.
        - rewrite (total_zero V r R (eq_sym Z) y I), <- Z. ring. }
      rewrite W, <- total_add. apply total_ext. intros x. rewrite <- Rmult_plus_distr_r. f_equal.
      apply (accepted_and_residual V p_c q_c N Q).
    + intros x I. rewrite !mean_bind.
      set (later := fun d => mean (node (rest x d) c (normalise r) (after q_c x)) (emitted V G)).
      rewrite (mean_ext_proper V _ _ _ _ (fun d => share (p_c x) (q_c x) * G (c ++ [x]) +
                                                   (1 - share (p_c x) (q_c x)) * later d) (D x I)).
      2: { intros d K. rewrite <- mean_bind.
           rewrite (first_child_first _ _ c (row_after x d) (c ++ [x]) (q (c ++ [x]))) by auto.
           rewrite (IHb x d K) by auto. rewrite <- (HG (c ++ [x])). auto. }
      rewrite mean_add, (mean_const V _ _ _ _ (D x I)), mean_mul.
      destruct (Rlt_dec 0 (total r)) as [T|T].
      * rewrite (mean_ext_proper V _ _ _ _ (fun _ => G') (D x I)).
        -- rewrite (mean_const V _ _ _ _ (D x I)). ring.
        -- intros d K. unfold later. rewrite <- (F x d K). apply IHr; auto. apply normalise_row; auto.
      * assert (Z : q_c x * (1 - share (p_c x) (q_c x)) = 0).
        { apply (total_zero V (fun x => q_c x * (1 - share (p_c x) (q_c x)))); auto.
          - intros y. apply (rejection_nonneg V p_c q_c N Q).
          - pose proof (total_nonneg V r R). lra. }
        rewrite Rmult_plus_distr_l, <- !Rmult_assoc, Z. ring.
  - rewrite mean_bind, E, <- mean_bind. apply (IH p_c P).
Qed.

Theorem recursive_rejection_lossless : forall c draft, sampled c (q c) draft ->
  lossless V p c (recursive_rejection_iteration V p q replacement draft c).
Proof. intros c draft D G HG. rewrite (HG c). apply (node_follows G HG c (q c) draft D (p c)), p_rows. Qed.

(** Every coin is a probability and every row a law, wherever the run can get. *)
Lemma rejection_proper : forall siblings c p_c q_c, possible V q replacement siblings c q_c ->
  is_row_or_empty V q_c -> is_row V p_c -> proper V (recursive_rejection siblings c p_c q_c) (stops_below V c).
Proof.
  induction siblings as [|x below IHb rest IHr]; simpl; intros c p_c q_c P H R.
  - split; auto. exists []. simpl. rewrite app_nil_r. auto.
  - destruct P as [I [L [Pb Pr]]]. destruct R as [N S].
    assert (Q : is_row V q_c).
    { destruct H as [M [T|Z]]; split; auto. rewrite (total_zero V q_c M Z x I) in L. lra. }
    split; [apply share_bounds; auto|]. split; intros K.
    + apply (proper_weaken V _ _ (stops_below V (c ++ [x]))); [|apply stops_deeper].
      apply IHb; auto. apply q_law, q_rows.
    + apply IHr; auto; [apply after_row; auto|]. apply normalise_row; [intros; apply excess_nonneg|].
      pose proof (rejected_mass V p_c q_c N Q) as J. rewrite S in J.
      assert (F : forall y, 0 <= q_c y * (1 - share (p_c y) (q_c y)))
        by (intros; apply (rejection_nonneg V p_c q_c N Q)).
      destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ F)) as [|Z]; [lra|].
      pose proof (total_zero V _ F (eq_sym Z) x I) as Zx. simpl in Zx.
      assert (0 < q_c x * (1 - share (p_c x) (q_c x))) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Theorem recursive_rejection_proper : forall c draft,
  proper V draft (fun siblings => possible V q replacement siblings c (q c)) ->
  proper V (recursive_rejection_iteration V p q replacement draft c) (stops_below V c).
Proof.
  intros c draft D. apply (proper_bind V _ _ _ _ _ _ D).
  intros siblings P. apply rejection_proper; auto. apply q_law, q_rows.
Qed.

(** ** Trees *)

Theorem tree_rejection_lossless : forall s c,
  lossless V p c (recursive_rejection_iteration V p q replacement (draw V q replacement s c (q c)) c).
Proof. intros. apply recursive_rejection_lossless, draw_sampled, q_law; auto. Qed.

Theorem tree_rejection_proper : forall s c,
  proper V (recursive_rejection_iteration V p q replacement (draw V q replacement s c (q c)) c) (stops_below V c).
Proof. intros. apply recursive_rejection_proper, draw_proper, q_law; auto. Qed.

End RecursiveRejection.
