(** Traversal Verification (weng2025traversal, Algorithm 3) is lossless on every tree.

    For every vocabulary, every draft whose siblings are drawn in order, with or without replacement, and every
    target and proposal, zeros included.  The statement that the induction carries: a subtree that is entered with rate [a]
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
Notation sampled := (sampled V q (in_order V replacement)).
Notation traverse := (traverse V p q replacement).
Notation after := (after V replacement).

(** Draft below [c], then traverse. *)
Definition subtree (draft : program children) (c : context) (a : R) (p_c q_c : row) : program (option stop) :=
  bind draft (fun siblings => traverse siblings c a p_c q_c).

(** The rate and the row of a node after a child was rejected. *)
Definition next_rate (a : R) (p_c q_c : row) : R :=
  share (total (excess (scale a p_c) q_c)) (total (excess (scale a p_c) q_c) + (1 - a)).
Definition next_row (a : R) (p_c q_c : row) : row := normalise (excess (scale a p_c) q_c).

(** The first child [x] may be judged before its later siblings are drawn. *)
Lemma first_child_first : forall below rest c r x a p_c q_c f, sampled c r rest ->
  mean (bind (bind below (fun drawn_below => bind rest (fun drawn_rest => Return (Child x drawn_below drawn_rest))))
             (fun siblings => traverse siblings c a p_c q_c)) f =
  mean (subtree below (c ++ [x]) (share (a * p_c x) (q_c x)) (p (c ++ [x])) (q (c ++ [x])))
       (fun found => match found with
                     | Some s => f (Some s)
                     | None => mean (subtree rest c (next_rate a p_c q_c) (next_row a p_c q_c) (after q_c x)) f
                     end).
Proof.
  intros below rest c r x a p_c q_c f H. unfold subtree. rewrite !mean_bind. apply mean_ext. intros drawn.
  rewrite mean_bind. simpl.
  rewrite (mean_ext V _ _ _ (fun later =>
    mean (traverse drawn (c ++ [x]) (share (a * p_c x) (q_c x)) (p (c ++ [x])) (q (c ++ [x])))
      (fun found => match found with
                    | Some s => f (Some s)
                    | None => mean (traverse later c (next_rate a p_c q_c) (next_row a p_c q_c) (after q_c x)) f
                    end))).
  2: { intros later. rewrite mean_bind. apply mean_ext. intros [s|]; reflexivity. }
  rewrite mean_swap. apply mean_ext. intros [s|].
  - apply (mean_sampled V q _ c r rest H).
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

Theorem subtree_stops : forall G, harmonic V p G -> forall c q_c draft, sampled c q_c draft ->
  forall a p_c, entered V a p_c ->
  mean (subtree draft c a p_c q_c) (emitted_if V G) = total (fun y => a * p_c y * G (c ++ [y])) /\
  mean (subtree draft c a p_c q_c) rejected = 1 - a.
Proof.
  intros G HG c q_c draft H.
  induction H as [c q_c|c q_c decision decide taken below rest row_after Q D N B IHb S IHr|c q_c m m' H IH E];
    intros a p_c E'; unfold subtree.
  - simpl. rewrite <- (total_mul V a). split; [|lra]. rewrite Rmult_0_r, Rplus_0_r. apply total_ext. intros; lra.
  - rename E' into E. simpl.
    destruct (entered_scale V a p_c E) as [T M]. set (t := scale a p_c) in *. set (r := excess t q_c).
    set (a' := next_rate a p_c q_c). set (G' := total (fun y => a' * next_row a p_c q_c y * G (c ++ [y]))).
    assert (R : forall x, 0 <= r x) by (intros; apply excess_nonneg).
    assert (J : total (fun x => q_c x * (1 - share (t x) (q_c x))) = total r + (1 - a))
      by (unfold r; rewrite <- M; apply rejected_mass; auto).
    assert (A : 0 <= a <= 1) by apply E.
    (* each first child and decision, by the induction hypotheses *)
    assert (X : forall x, In x (vocabulary V) ->
      q_c x * mean (bind (bind (decide x) (fun d => bind (below x d) (fun drawn_below =>
                          bind (rest x d) (fun drawn_rest => Return (Child x drawn_below drawn_rest)))))
                    (fun siblings => traverse siblings c a p_c q_c)) (emitted_if V G) =
      q_c x * share (t x) (q_c x) * G (c ++ [x]) + q_c x * (1 - share (t x) (q_c x)) * G' /\
      q_c x * mean (bind (bind (decide x) (fun d => bind (below x d) (fun drawn_below =>
                          bind (rest x d) (fun drawn_rest => Return (Child x drawn_below drawn_rest)))))
                    (fun siblings => traverse siblings c a p_c q_c)) rejected =
      q_c x * (1 - share (t x) (q_c x)) * (1 - a')).
    { intros x I.
      set (later := fun d => subtree (rest x d) c a' (next_row a p_c q_c) (after q_c x)).
      (* for each decision: what the child gets, and what is left to the rest *)
      assert (Y : forall f v, (forall d, taken x d ->
          mean (subtree (below x d) (c ++ [x]) (share (t x) (q_c x)) (p (c ++ [x])) (q (c ++ [x])))
            (fun found => match found with Some s => f (Some s) | None => mean (later d) f end) =
          v + mean (later d) f * (1 - share (t x) (q_c x))) ->
        mean (bind (bind (decide x) (fun d => bind (below x d) (fun drawn_below =>
                bind (rest x d) (fun drawn_rest => Return (Child x drawn_below drawn_rest)))))
              (fun siblings => traverse siblings c a p_c q_c)) f =
        v + mean (decide x) (fun d => mean (later d) f) * (1 - share (t x) (q_c x))).
      { intros f v Hv. rewrite !mean_bind.
        rewrite (mean_ext_proper V _ _ _ _ (fun d => v + (1 - share (t x) (q_c x)) * mean (later d) f) (D x I)).
        - rewrite mean_add, mean_mul, (mean_const V _ _ _ _ (D x I)). lra.
        - intros d K. pose proof (first_child_first (below x d) (rest x d) c (row_after x d) x a p_c q_c f (S x d K)) as F.
          rewrite mean_bind in F. rewrite F. fold (t x). fold a'. fold (later d).
          change (a * p_c x) with (t x). rewrite Hv by auto. lra. }
      assert (Z : forall v w, (0 < total r + (1 - a) -> v = w) ->
        q_c x * (v * (1 - share (t x) (q_c x))) = q_c x * (1 - share (t x) (q_c x)) * w).
      { intros v w V'. destruct (Rlt_dec 0 (total r + (1 - a))) as [P|P].
        - rewrite (V' P). ring.
        - assert (Z : q_c x * (1 - share (t x) (q_c x)) = 0).
          { apply (total_zero V (fun x => q_c x * (1 - share (t x) (q_c x)))); auto.
            - intros y. apply (rejection_nonneg V t q_c T Q).
            - pose proof (total_nonneg V r R). lra. }
          replace (q_c x * (v * (1 - share (t x) (q_c x)))) with ((q_c x * (1 - share (t x) (q_c x))) * v) by ring.
          rewrite Z. ring. }
      assert (K : share (t x) (q_c x) * G (c ++ [x]) =
                  total (fun y => share (t x) (q_c x) * p (c ++ [x]) y * G ((c ++ [x]) ++ [y]))).
      { rewrite (total_ext V _ (fun y => share (t x) (q_c x) * (p (c ++ [x]) y * G ((c ++ [x]) ++ [y])))) by (intros; lra).
        rewrite total_mul, <- (HG (c ++ [x])). auto. }
      assert (IB : forall d, taken x d -> _) by exact (fun d k => IHb x d k (share (t x) (q_c x)) (p (c ++ [x]))
        (conj (share_bounds (t x) (q_c x) (T x)) (or_intror (p_rows (c ++ [x]))))).
      assert (IR : 0 < total r + (1 - a) -> forall d, taken x d ->
        mean (later d) (emitted_if V G) = G' /\ mean (later d) rejected = 1 - a').
      { intros P d k. unfold later. rewrite <- (N x d k). apply IHr; auto. apply next_entered; auto. }
      split.
      - rewrite (Y (emitted_if V G) (share (t x) (q_c x) * G (c ++ [x]))).
        + rewrite Rmult_plus_distr_l, (Z _ G'); [ring|]. intros P.
          rewrite (mean_ext_proper V _ _ _ _ (fun _ => G') (D x I)); [apply (mean_const V _ _ _ _ (D x I))|].
          intros d k. apply (IR P d k).
        + intros d k. rewrite split_emitted. destruct (IB d k) as [F1 F2]. rewrite F1, F2, K. ring.
      - rewrite (Y rejected 0).
        + rewrite Rplus_0_l. apply Z. intros P.
          rewrite (mean_ext_proper V _ _ _ _ (fun _ => 1 - a') (D x I)); [apply (mean_const V _ _ _ _ (D x I))|].
          intros d k. apply (IR P d k).
        + intros d k. rewrite split_rejected. destruct (IB d k) as [F1 F2]. rewrite F2. ring. }
    (* their sum *)
    assert (W' : (total r + (1 - a)) * a' = total r).
    { apply share_of_whole. pose proof (total_nonneg V r R). fold t. fold r. lra. }
    assert (W : (total r + (1 - a)) * G' = total (fun y => r y * G (c ++ [y]))).
    { unfold G'. rewrite <- total_mul. apply total_ext_in. intros y I.
      replace ((total r + (1 - a)) * (a' * next_row a p_c q_c y * G (c ++ [y])))
        with (((total r + (1 - a)) * a') * next_row a p_c q_c y * G (c ++ [y])) by ring.
      rewrite W'. destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V r R)) as [P|Z].
      - unfold next_row. rewrite normalise_total; auto.
      - rewrite (total_zero V r R (eq_sym Z) y I), <- Z. ring. }
    split.
    + rewrite (total_ext_in V _ _ (fun x I => proj1 (X x I))), total_add, total_mul_right, J, W, <- total_add.
      apply total_ext. intros x. rewrite <- Rmult_plus_distr_r. f_equal.
      apply (accepted_and_residual V t q_c T Q).
    + rewrite (total_ext_in V _ _ (fun x I => proj2 (X x I))), total_mul_right, J. lra.
  - rewrite !mean_bind, !E, <- !mean_bind. apply (IH a p_c E').
Qed.

Theorem traversal_lossless : forall c draft, sampled c (q c) draft ->
  lossless_if V p c (traversal_iteration V p q replacement draft c).
Proof.
  intros c draft D. assert (E : entered V 1 (p c)) by (split; [lra|right; apply p_rows]).
  assert (H : forall G, harmonic V p G -> _) by exact (fun G HG => subtree_stops G HG c (q c) draft D 1 (p c) E).
  split.
  - intros G HG. destruct (H G HG) as [H1 _]. unfold subtree in H1. unfold traversal_iteration. rewrite H1, (HG c).
    apply total_ext. intros. lra.
  - destruct (H _ (harmonic_one V p p_rows)) as [_ H2]. unfold subtree in H2. unfold traversal_iteration.
    rewrite H2. lra.
Qed.

Lemma subtree_proper : forall draft c a p_c q_c,
  proper V draft (fun siblings => possible V q replacement siblings c q_c) ->
  is_row_or_empty V q_c -> entered V a p_c ->
  proper V (subtree draft c a p_c q_c)
    (fun found => match found with Some s => stops_below V c s | None => a < 1 end).
Proof.
  intros draft c a p_c q_c D H E.
  apply (proper_bind V _ _ _ _ _ _ D). intros siblings P. apply traverse_proper; auto.
Qed.

Theorem traversal_proper : forall c draft,
  proper V draft (fun siblings => possible V q replacement siblings c (q c)) ->
  proper V (traversal_iteration V p q replacement draft c)
    (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros c draft D. apply (proper_weaken V _ _ (fun found =>
    match found with Some s => stops_below V c s | None => 1 < 1 end)).
  - apply subtree_proper; auto; [apply q_law, q_rows|]. split; [lra|right; apply p_rows].
  - intros [r|] F; simpl; auto. lra.
Qed.

(** ** Trees *)

Theorem tree_traversal_lossless : forall s c,
  lossless_if V p c (traversal_iteration V p q replacement (draw V q replacement s c (q c)) c).
Proof. intros. apply traversal_lossless, draw_sampled, q_law; auto. Qed.

Theorem tree_traversal_proper : forall s c,
  proper V (traversal_iteration V p q replacement (draw V q replacement s c (q c)) c)
    (fun found => match found with Some s => stops_below V c s | None => False end).
Proof. intros. apply traversal_proper, draw_proper, q_law; auto. Qed.

End Traversal.
