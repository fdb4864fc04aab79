(** Traversal Verification (weng2025traversal, Algorithm 3) is lossless on every tree.

    For every vocabulary, every shape of tree, siblings drawn with or without replacement, and every target and
    proposal, zeros included.  The statement that the induction carries: a subtree that is entered with rate [a]
    stops with probability [a], and what is emitted then follows the row of its root and the target. *)

Require Import Reals Lra List.
Require Import Programs Numbers Means Lossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Traversal.
Variable V : nat.
Variables p q : context -> row.
Variable replacement : bool.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation draw := (draw V q replacement).
Notation traverse := (traverse V p q replacement).
Notation after := (after V replacement).

(** Draw the children of [c], then traverse them. *)
Definition subtree (s : shape) (c : context) (a : R) (p_c q_c : row) : program (option stop) :=
  bind (draw s c q_c) (fun siblings => traverse siblings c a p_c q_c).

(** The rate and the row of a node after a child was rejected. *)
Definition next_rate (a : R) (p_c q_c : row) : R :=
  share (total (excess (scale a p_c) q_c)) (total (excess (scale a p_c) q_c) + (1 - a)).
Definition next_row (a : R) (p_c q_c : row) : row := normalise (excess (scale a p_c) q_c).

(** The first child [x] may be judged before its later siblings are drawn. *)
Lemma first_child : forall below rest c x a p_c q_c f, is_row_or_empty V q_c ->
  mean (bind (bind (draw below (c ++ [x]) (q (c ++ [x]))) (fun drawn_below =>
              bind (draw rest c (after q_c x)) (fun drawn_rest => Return (Child x drawn_below drawn_rest))))
             (fun siblings => traverse siblings c a p_c q_c)) f =
  mean (subtree below (c ++ [x]) (share (a * p_c x) (q_c x)) (p (c ++ [x])) (q (c ++ [x])))
       (fun found => match found with
                     | Some s => f (Some s)
                     | None => mean (subtree rest c (next_rate a p_c q_c) (next_row a p_c q_c) (after q_c x)) f
                     end).
Proof.
  intros below rest c x a p_c q_c f H. unfold subtree. rewrite !mean_bind. apply mean_ext. intros drawn.
  rewrite mean_bind. simpl.
  rewrite (mean_ext V _ _ _ (fun later =>
    mean (traverse drawn (c ++ [x]) (share (a * p_c x) (q_c x)) (p (c ++ [x])) (q (c ++ [x])))
      (fun found => match found with
                    | Some s => f (Some s)
                    | None => mean (traverse later c (next_rate a p_c q_c) (next_row a p_c q_c) (after q_c x)) f
                    end))).
  2: { intros later. rewrite mean_bind. apply mean_ext. intros [s|]; reflexivity. }
  rewrite mean_swap. apply mean_ext. intros [s|].
  - apply mean_draw; auto. apply after_row. auto.
  - reflexivity.
Qed.

(** Once a child was rejected with positive probability, the node has a rate and a row again. *)
Lemma next_entered : forall a p_c q_c, entered V a p_c ->
  0 < total (excess (scale a p_c) q_c) + (1 - a) -> entered V (next_rate a p_c q_c) (next_row a p_c q_c).
Proof.
  intros a p_c q_c [A _] D. unfold next_rate, next_row. set (r := excess (scale a p_c) q_c) in *.
  assert (N : forall x, 0 <= r x) by (intros; apply excess_nonneg).
  assert (S : 0 <= total r) by (apply total_nonneg; auto).
  split; [apply share_bounds; auto|].
  destruct (Rle_lt_or_eq_dec _ _ S) as [L|Z]; [right; apply normalise_row; auto|left].
  pose proof (share_of_whole (total r) (total r + (1 - a))). 
  apply Rmult_eq_reg_l with (total r + (1 - a)); [|lra]. lra.
Qed.

(** Every coin is a probability and every row a law, wherever the run can get; a rejection needs a < 1. *)
Lemma traverse_proper : forall siblings c a p_c q_c, possible V q replacement siblings c q_c ->
  is_row_or_empty V q_c -> entered V a p_c ->
  proper V (traverse siblings c a p_c q_c)
    (fun found => match found with Some s => stops_below V c s | None => a < 1 end).
Proof.
  induction siblings as [|x below IHb rest IHr]; simpl; intros c a p_c q_c P H E.
  - destruct E as [A E]. split; [auto|]. split; intros L; simpl; auto. split.
    + exists []. simpl. rewrite app_nil_r. auto.
    + destruct E as [Z|R]; [lra|exact R].
  - destruct P as [I [L [Pb Pr]]].
    assert (Q : is_row V q_c).
    { destruct H as [N [S|Z]]; split; auto. rewrite (total_zero V q_c N Z x I) in L. lra. }
    destruct (entered_scale V a p_c E) as [T M]. specialize (T x) as Tx. unfold scale in Tx.
    apply (proper_bind V _ _ _ _ (fun found =>
      match found with Some s => stops_below V (c ++ [x]) s | None => share (a * p_c x) (q_c x) < 1 end)).
    + apply IHb; auto; [apply q_law, q_rows|]. split; [apply share_bounds; auto|right; apply p_rows].
    + intros [s|] F; simpl; [apply (stops_deeper V c x s F)|].
      assert (D : 0 < total (excess (scale a p_c) q_c) + (1 - a)).
      { pose proof (rejected_mass V (scale a p_c) q_c T Q) as J. rewrite M in J. rewrite <- J.
        assert (N : forall y, 0 <= q_c y * (1 - share (scale a p_c y) (q_c y)))
          by (intros; apply (rejection_nonneg V (scale a p_c) q_c T Q)).
        destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ N)) as [|Z]; auto.
        pose proof (total_zero V _ N (eq_sym Z) x I) as Zx. simpl in Zx. unfold scale in Zx.
        assert (0 < q_c x * (1 - share (a * p_c x) (q_c x))) by (apply Rmult_lt_0_compat; lra). lra. }
      apply (proper_weaken V _ _ (fun found =>
        match found with Some s => stops_below V c s | None => next_rate a p_c q_c < 1 end)).
      * apply IHr; auto; [apply after_row; auto|apply next_entered; auto].
      * intros [s|]; simpl; auto. unfold next_rate.
        pose proof (share_of_whole (total (excess (scale a p_c) q_c)) (total (excess (scale a p_c) q_c) + (1 - a))).
        assert (0 <= total (excess (scale a p_c) q_c)) by (apply total_nonneg; intros; apply excess_nonneg).
        assert (0 <= a <= 1) by apply E. intros K.
        destruct (Rle_lt_or_eq_dec a 1) as [|Z]; [lra|auto|]. exfalso. subst a.
        assert (share (total (excess (scale 1 p_c) q_c)) (total (excess (scale 1 p_c) q_c) + (1 - 1)) = 1).
        { apply Rmult_eq_reg_l with (total (excess (scale 1 p_c) q_c) + (1 - 1)); lra. }
        lra.
Qed.

Theorem subtree_stops : forall s G, harmonic V p G -> forall c a p_c q_c,
  entered V a p_c -> is_row_or_empty V q_c ->
  mean (subtree s c a p_c q_c) (emitted_if V G) = total (fun y => a * p_c y * G (c ++ [y])) /\
  mean (subtree s c a p_c q_c) rejected = 1 - a.
Proof.
  induction s as [|below IHb rest IHr]; intros G HG c a p_c q_c E H; unfold subtree; simpl.
  - rewrite <- (total_mul V a). split; [|lra]. rewrite Rmult_0_r, Rplus_0_r. apply total_ext. intros; lra.
  - destruct (Rlt_dec 0 (total q_c)) as [L|L].
    2: { simpl. rewrite <- (total_mul V a). split; [|lra]. rewrite Rmult_0_r, Rplus_0_r. apply total_ext. intros; lra. }
    pose proof (drawable V q_c H L) as Q.
    destruct (entered_scale V a p_c E) as [T M]. set (t := scale a p_c) in *. set (r := excess t q_c).
    set (a' := next_rate a p_c q_c). set (G' := total (fun y => a' * next_row a p_c q_c y * G (c ++ [y]))).
    assert (R : forall x, 0 <= r x) by (intros; apply excess_nonneg).
    assert (D : total (fun x => q_c x * (1 - share (t x) (q_c x))) = total r + (1 - a))
      by (unfold r; rewrite <- M; apply rejected_mass; auto).
    assert (A : 0 <= a <= 1) by apply E.
    (* each first child, by the induction hypotheses *)
    assert (X : forall x, In x (vocabulary V) ->
      q_c x * mean (bind (bind (draw below (c ++ [x]) (q (c ++ [x]))) (fun drawn_below =>
                          bind (draw rest c (after q_c x)) (fun drawn_rest => Return (Child x drawn_below drawn_rest))))
                    (fun siblings => traverse siblings c a p_c q_c)) (emitted_if V G) =
      q_c x * share (t x) (q_c x) * G (c ++ [x]) + q_c x * (1 - share (t x) (q_c x)) * G' /\
      q_c x * mean (bind (bind (draw below (c ++ [x]) (q (c ++ [x]))) (fun drawn_below =>
                          bind (draw rest c (after q_c x)) (fun drawn_rest => Return (Child x drawn_below drawn_rest))))
                    (fun siblings => traverse siblings c a p_c q_c)) rejected =
      q_c x * (1 - share (t x) (q_c x)) * (1 - a')).
    { intros x I. rewrite !first_child, split_emitted, split_rejected by auto.
      destruct (IHb G HG (c ++ [x]) (share (a * p_c x) (q_c x)) (p (c ++ [x])) (q (c ++ [x]))) as [F1 F2].
      { split; [apply share_bounds, T|right; apply p_rows]. }
      { apply q_law, q_rows. }
      rewrite F1, F2. change (a * p_c x) with (t x).
      rewrite (total_ext V _ (fun y => share (t x) (q_c x) * (p (c ++ [x]) y * G ((c ++ [x]) ++ [y])))) by (intros; lra).
      rewrite total_mul, <- (HG (c ++ [x])).
      destruct (Rlt_dec 0 (total r + (1 - a))) as [P|N].
      - destruct (IHr G HG c a' (next_row a p_c q_c) (after q_c x)) as [F3 F4].
        { apply next_entered; auto. } { apply after_row; auto. }
        fold a'. rewrite F3, F4. fold G'. split; ring.
      - assert (Z : q_c x * (1 - share (t x) (q_c x)) = 0).
        { apply (total_zero V (fun x => q_c x * (1 - share (t x) (q_c x)))); auto.
          - intros y. apply (rejection_nonneg V t q_c T Q).
          - pose proof (total_nonneg V r R). lra. }
        rewrite !(Rmult_comm (mean _ _)), <- !Rmult_assoc, !Rmult_plus_distr_l, <- !Rmult_assoc, !Z. split; ring. }
    (* their sum *)
    assert (S : (total r + (1 - a)) * a' = total r).
    { apply share_of_whole. pose proof (total_nonneg V r R). fold t. fold r. lra. }
    assert (W : (total r + (1 - a)) * G' = total (fun y => r y * G (c ++ [y]))).
    { unfold G'. rewrite <- total_mul. apply total_ext_in. intros y I.
      replace ((total r + (1 - a)) * (a' * next_row a p_c q_c y * G (c ++ [y])))
        with (((total r + (1 - a)) * a') * next_row a p_c q_c y * G (c ++ [y])) by ring.
      rewrite S. destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V r R)) as [P|Z].
      - unfold next_row. rewrite normalise_total; auto.
      - rewrite (total_zero V r R (eq_sym Z) y I), <- Z. ring. }
    simpl. split.
    + rewrite (total_ext_in V _ _ (fun x I => proj1 (X x I))), total_add, total_mul_right, D, W, <- total_add.
      apply total_ext. intros x. rewrite <- Rmult_plus_distr_r. f_equal.
      apply (accepted_and_residual V t q_c T Q).
    + rewrite (total_ext_in V _ _ (fun x I => proj2 (X x I))), total_mul_right, D. lra.
Qed.

Theorem traversal_lossless : forall s c, lossless_if V p c (traversal_iteration V p q replacement s c).
Proof.
  intros s c. assert (E : entered V 1 (p c)) by (split; [lra|right; apply p_rows]).
  assert (H : forall G, harmonic V p G -> _) by exact (fun G HG => subtree_stops s G HG c 1 (p c) (q c) E (q_law V q q_rows c)).
  split.
  - intros G HG. destruct (H G HG) as [H1 _]. unfold subtree in H1. unfold traversal_iteration. rewrite H1, (HG c).
    apply total_ext. intros. lra.
  - assert (HG : harmonic V p (fun _ => 1)).
    { intros d. destruct (p_rows d) as [_ S]. rewrite <- S at 1. apply total_ext. intros; lra. }
    destruct (H _ HG) as [_ H2]. unfold subtree in H2. unfold traversal_iteration. rewrite H2. lra.
Qed.

Lemma subtree_proper : forall s c a p_c q_c, is_row_or_empty V q_c -> entered V a p_c ->
  proper V (subtree s c a p_c q_c)
    (fun found => match found with Some s => stops_below V c s | None => a < 1 end).
Proof.
  intros s c a p_c q_c H E.
  apply (proper_bind V _ _ _ _ (fun siblings => possible V q replacement siblings c q_c));
    [apply draw_proper; auto|].
  intros siblings P. apply traverse_proper; auto.
Qed.

Theorem traversal_proper : forall s c, proper V (traversal_iteration V p q replacement s c)
  (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros s c. apply (proper_weaken V _ _ (fun found =>
    match found with Some s => stops_below V c s | None => 1 < 1 end)).
  - apply subtree_proper; [apply q_law, q_rows|]. split; [lra|right; apply p_rows].
  - intros [r|] F; simpl; auto. lra.
Qed.

End Traversal.
