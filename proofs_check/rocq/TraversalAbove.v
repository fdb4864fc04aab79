(** On a tree of two levels drawn with replacement, Traversal Verification never accepts less than recursive rejection.

    At the root both judge alike: the rate stays 1.  A child that is entered with the rate w stops there or below with
    w in both; one of its own children is accepted with at least w times what recursive rejection accepts of them. *)

Require Import Reals Lra Lia List Arith FunctionalExtensionality.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Alpha RecursivePrice.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** Siblings whose n-th has so many children, which have none. *)
Fixpoint two_levels (ks : list nat) : shape :=
  match ks with [] => NoShape | k :: ks => Shape (leaves k) (two_levels ks) end.

(** How many tokens were accepted below [c]. *)
Definition tokens (c : context) (s : stop) : R := INR (length (fst s) - length c).
Definition tokens_if (c : context) (found : option stop) : R := match found with Some s => tokens c s | None => 0 end.

Section Above.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

(** ** One level, entered with a rate *)

Section Leaves.
Variable c : context.
Notation P := (p c).
Notation Q := (q c).

Definition entered_at (k : nat) (a : R) (r : row) : program (option stop) :=
  subtree V p q true (draw V q true (leaves k) c Q) c a r Q.
Definition leaf_if (found : option stop) : R := match found with Some s => one_accepted c s | None => 0 end.
Definition leaf (k : nat) (a : R) (r : row) : R := mean (entered_at k a r) leaf_if.
Definition stopped (found : option stop) : R := match found with Some _ => 1 | None => 0 end.

Lemma entered_step : forall k a r F, F None = 0 -> mean (entered_at (S k) a r) F = total (fun x => Q x *
  (share (a * r x) (Q x) * F (Some (c ++ [x], p (c ++ [x]))) +
   (1 - share (a * r x) (Q x)) * mean (entered_at k (next_rate V a r Q) (next_row V a r Q)) F)).
Proof.
  intros k a r F N. unfold entered_at, subtree. simpl leaves. simpl draw. simpl.
  destruct (Rlt_dec 0 (total Q)) as [L|L]; [|rewrite (proj2 (q_rows c)) in L; lra].
  simpl. apply total_ext. intros x. rewrite !mean_bind. simpl.
  rewrite mean_add, !mean_mul, (mean_sampled V q (in_order V true) c Q); [reflexivity|].
  apply draw_sampled; [apply q_rows|]. apply row_or_empty, q_rows.
Qed.

Lemma rate_values : forall F none one, F None = 0 -> (forall r, F (Some (c, r)) = none) ->
  (forall x r, F (Some (c ++ [x], r)) = one) ->
  forall k a r, mean (entered_at k a r) F = none * mean (entered_at k a r) stopped + (one - none) * leaf k a r.
Proof.
  intros F none one Z N O. unfold leaf. induction k as [|k IH]; intros a r.
  - unfold entered_at, subtree. simpl. rewrite N, Z. unfold one_accepted. simpl. rewrite Nat.eqb_refl. ring.
  - rewrite !entered_step by auto. rewrite <- !total_mul, <- total_add. apply total_ext. intros x.
    rewrite O, IH. simpl. rewrite deeper_accepted. ring.
Qed.

Lemma stops_at_rate : forall k a r, entered V a r ->
  mean (entered_at k a r) stopped = a /\ mean (entered_at k a r) rejected = 1 - a.
Proof.
  intros k a r E.
  assert (R : mean (entered_at k a r) rejected = 1 - a).
  { apply (subtree_stops V p q true p_rows (fun _ => 1) (harmonic_one V p p_rows) c Q); auto.
    apply draw_sampled; [apply q_rows|]. apply row_or_empty, q_rows. }
  split; auto. rewrite (mean_ext V _ _ _ (fun found => 1 - rejected found)) by (intros [s|]; simpl; ring).
  rewrite mean_sub, R. erewrite mean_const; [ring|].
  apply (subtree_proper V p q true p_rows q_rows); [|apply row_or_empty, q_rows|exact E].
  apply draw_proper; [apply q_rows|]. apply row_or_empty, q_rows.
Qed.

Section Rate.
Variable a0 : R.
Hypothesis a0_rate : 0 <= a0 <= 1.

Definition left_over (m : R) : row := excess (scale a0 P) (scale m Q).
Definition g (m : R) : R := total (left_over m).
Definition D (m : R) : R := 1 - a0 + g m.
Fixpoint raised (m : R) (k : nat) : R := match k with 0 => m | S k => raised (m + D m) k end.

Lemma g_nonneg : forall m, 0 <= g m.
Proof. intros. apply total_nonneg. intros. apply excess_nonneg. Qed.

Lemma raised_stays : forall k m, D m = 0 -> raised m k = m.
Proof. induction k as [|k IH]; simpl; intros m Z; auto. rewrite Z, Rplus_0_r. auto. Qed.

Lemma leaf_from : forall k m a r, 0 < D m -> a = g m / D m ->
  (forall x, In x (vocabulary V) -> a * r x = left_over m x / D m) -> D m * (1 - leaf k a r) = D (raised m k).
Proof.
  induction k as [|k IH]; intros m a r L A R.
  - unfold leaf, entered_at, subtree. simpl. unfold one_accepted. simpl. rewrite Nat.eqb_refl. ring.
  - assert (I : 0 < / D m) by (apply Rinv_0_lt_compat; auto).
    assert (E : forall x, In x (vocabulary V) -> excess (scale a r) Q x = left_over (m + D m) x / D m).
    { intros x X. specialize (R x X). pose proof (proj1 (q_rows c) x) as N. unfold left_over in *. rewrite !excess_min in *.
      unfold scale in *. simpl in *. rewrite R. set (t := a0 * P x) in *.
      assert (0 <= D m * Q x) by (apply Rmult_le_pos; lra).
      assert (M : Rmin ((t - Rmin t (m * Q x)) / D m) (Q x) = Rmin (t - Rmin t (m * Q x)) (D m * Q x) / D m).
      { set (v := t - _). replace (Q x) with (D m * Q x / D m) at 1 by (field; lra). unfold Rdiv.
        unfold Rmin. destruct (Rle_dec (v * / D m) (D m * Q x * / D m)) as [H'|H'], (Rle_dec v (D m * Q x)) as [K|K]; auto.
        - exfalso. apply K. apply (Rmult_le_reg_r (/ D m)); auto.
        - exfalso. apply H'. apply Rmult_le_compat_r; lra. }
      rewrite M. unfold Rdiv. rewrite <- Rmult_minus_distr_r. f_equal. unfold Rmin.
      repeat match goal with |- context [Rle_dec ?u ?v] => destruct (Rle_dec u v) end; lra. }
    assert (S' : total (excess (scale a r) Q) = g (m + D m) / D m).
    { rewrite (total_ext_in V _ _ E). apply total_div. }
    assert (T : total (scale a r) = a).
    { rewrite (total_ext_in V (scale a r) _ R), total_div. auto. }
    assert (N : forall x, In x (vocabulary V) -> 0 <= a * r x).
    { intros x X. rewrite R by auto. apply Rmult_le_pos; [apply excess_nonneg|lra]. }
    assert (W : total (excess (scale a r) Q) + (1 - a) = D (m + D m) / D m).
    { rewrite S', A. replace (D (m + D m)) with (g (m + D m) + D m - g m) by (unfold D; ring). field. lra. }
    assert (J : total (fun x => Q x * (1 - share (a * r x) (Q x))) = D (m + D m) / D m).
    { rewrite <- W, total_excess, T.
      rewrite (total_ext_in V _ (fun x => Q x - Rmin (scale a r x) (Q x))).
      - rewrite total_sub, (proj2 (q_rows c)). ring.
      - intros x X. pose proof (share_mass (a * r x) (Q x) (N x X) (proj1 (q_rows c) x)) as M.
        unfold scale. simpl. rewrite <- M. ring. }
    assert (U : D m * (1 - leaf (S k) a r) =
      D (m + D m) * (1 - leaf k (next_rate V a r Q) (next_row V a r Q))).
    { unfold leaf at 1. rewrite entered_step by auto. fold (leaf k (next_rate V a r Q) (next_row V a r Q)).
      set (v := leaf k _ _).
      rewrite (total_ext V _ (fun x => Q x - Q x * (1 - share (a * r x) (Q x)) + v * (Q x * (1 - share (a * r x) (Q x)))))
        by (intros; simpl; rewrite deeper_accepted; unfold v, leaf; ring).
      rewrite total_add, total_mul, total_sub, J, (proj2 (q_rows c)). field. lra. }
    rewrite U. simpl raised.
    assert (Pos : 0 <= D (m + D m)) by (unfold D at 1; pose proof (g_nonneg (m + D m)); lra).
    destruct (Rle_lt_or_eq_dec _ _ Pos) as [G|G].
    + assert (Rate : next_rate V a r Q = g (m + D m) / D (m + D m)).
      { unfold next_rate. rewrite W, S'. pose proof (share_of_whole (g (m + D m) / D m) (D (m + D m) / D m)) as H.
        assert (B : 0 <= g (m + D m) / D m <= D (m + D m) / D m).
        { pose proof (g_nonneg (m + D m)). split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat_r; [lra|]. unfold D. lra. }
        specialize (H B). apply (Rmult_eq_reg_l (D (m + D m) / D m)); [rewrite H; field; lra|].
        assert (0 < D (m + D m) / D m) by (apply Rmult_lt_0_compat; auto). lra. }
      apply IH; auto. intros x X. rewrite Rate. unfold next_row.
      destruct (Rle_lt_or_eq_dec _ _ (g_nonneg (m + D m))) as [O|O].
      * assert (Q' : 0 < total (excess (scale a r) Q)) by (rewrite S'; apply Rmult_lt_0_compat; auto).
        pose proof (normalise_total V (excess (scale a r) Q) x Q') as H. rewrite S', (E x X) in H.
        apply (Rmult_eq_reg_l (D (m + D m))); [|lra].
        replace (D (m + D m) * (g (m + D m) / D (m + D m) * normalise (excess (scale a r) Q) x))
          with (D m * (g (m + D m) / D m * normalise (excess (scale a r) Q) x)) by (field; lra).
        rewrite H. field. lra.
      * rewrite <- O. replace (left_over (m + D m) x) with 0; [unfold Rdiv; ring|]. symmetry.
        apply (total_zero V); auto. intros. apply excess_nonneg.
    + rewrite (raised_stays k (m + D m)) by auto. rewrite <- G. ring.
Qed.

Lemma g_none : g 0 = a0.
Proof.
  unfold g. rewrite (total_ext V _ (fun x => a0 * P x)); [rewrite total_mul, (proj2 (p_rows c)); ring|].
  intros x. unfold left_over. rewrite excess_min. unfold scale. simpl.
  assert (0 <= a0 * P x) by (apply Rmult_le_pos; [lra|apply p_rows]). rewrite Rmult_0_l, Rmin_right by lra. ring.
Qed.

Lemma leaf_is : forall k, leaf k a0 P = a0 - g (raised 0 k).
Proof.
  intros k. assert (O : D 0 = 1) by (unfold D; rewrite g_none; ring).
  pose proof (leaf_from k 0 a0 P) as F. rewrite O, g_none in F. unfold D in F.
  assert (1 * (1 - leaf k a0 P) = 1 - a0 + g (raised 0 k)); [|lra]. apply F; [lra|field|].
  intros x _. unfold left_over. rewrite excess_min. unfold scale. simpl.
  assert (0 <= a0 * P x) by (apply Rmult_le_pos; [lra|apply p_rows]). rewrite Rmult_0_l, Rmin_right by lra. field.
Qed.

(** Levels rise faster than those of recursive rejection. *)

Lemma g_less : forall m m', m <= m' -> g m' <= g m <= g m' + (m' - m).
Proof.
  intros m m' L. assert (E : forall x, left_over m' x <= left_over m x <= left_over m' x + (m' - m) * Q x).
  { intros x. unfold left_over. rewrite !excess_min. unfold scale. simpl. pose proof (proj1 (q_rows c) x).
    assert (m * Q x <= m' * Q x) by (apply Rmult_le_compat_r; auto). unfold Rmin.
    repeat match goal with |- context [Rle_dec ?u ?v] => destruct (Rle_dec u v) end; lra. }
  split; [apply total_le; intros; apply E|].
  unfold g. rewrite <- (Rmult_1_r (m' - m)), <- (proj2 (q_rows c)), <- total_mul, <- total_add. apply total_le. apply E.
Qed.

Lemma g_scaled : forall u, g (a0 * u) = a0 * f V p q c u.
Proof.
  intros u. unfold g, f. rewrite <- total_mul. apply total_ext. intros x. unfold left_over, over.
  rewrite !excess_min. unfold scale. simpl. rewrite Rmult_assoc.
  unfold Rmin. destruct (Rle_dec (a0 * P x) (a0 * (u * Q x))) as [A|A], (Rle_dec (P x) (u * Q x)) as [B|B]; try ring; nra.
Qed.

Lemma raised_above : forall k m u, a0 * u <= m -> a0 * level V p q c u k <= raised m k.
Proof.
  induction k as [|k IH]; simpl; intros m u L; auto. apply IH. pose proof (g_less _ _ L) as G.
  pose proof (g_scaled u). unfold D. lra.
Qed.

Lemma leaf_above : forall k, a0 * recursive V p q c k <= leaf k a0 P.
Proof.
  intros k. rewrite leaf_is, (recursive_refuses V p q q_rows c (p_rows c)).
  pose proof (raised_above k 0 0 ltac:(lra)) as L. pose proof (g_less _ _ L) as G. rewrite g_scaled in G. lra.
Qed.

End Rate.
End Leaves.

(** ** Two levels *)

Section Root.
Variable c : context.
Notation Q := (q c).

Definition by_traversal (ks : list nat) (r : row) : R :=
  mean (subtree V p q true (draw V q true (two_levels ks) c Q) c 1 r Q) (tokens_if c).
Definition by_recursion (ks : list nat) (r : row) : R :=
  mean (node V p q true (draw V q true (two_levels ks) c Q) c r Q) (tokens c).

Lemma next_is_residual : forall r, next_rate V 1 r Q = 1 /\ (forall x, next_row V 1 r Q x = normalise (excess r Q) x).
Proof.
  intros r. assert (E : forall x, excess (scale 1 r) Q x = excess r Q x).
  { intros x. rewrite !excess_min. unfold scale. simpl. rewrite Rmult_1_l. auto. }
  split.
  - unfold next_rate. replace (total (excess (scale 1 r) Q) + (1 - 1)) with (total (excess (scale 1 r) Q)) by ring.
    unfold share. destruct (Rlt_dec _ _); [lra|auto].
  - intros x. unfold next_row, RealPrograms.normalise. rewrite (total_ext V _ _ E).
    destruct (Rlt_dec 0 (total (excess r Q))); rewrite E; auto.
Qed.

Lemma one_more : forall x r, tokens c (c ++ [x], r) = 1.
Proof. intros x r. unfold tokens. simpl. rewrite app_length. simpl. replace (_ + 1 - _)%nat with 1%nat by lia. auto. Qed.

Lemma two_more : forall x y r, tokens c ((c ++ [x]) ++ [y], r) = 2.
Proof.
  intros. unfold tokens. simpl. rewrite !app_length. simpl. replace (_ + 1 + 1 - _)%nat with 2%nat by lia. simpl. ring.
Qed.

Lemma rest_sampled : forall ks, sampled V q (in_order V true) c Q (draw V q true (two_levels ks) c Q).
Proof. intros. apply draw_sampled; [apply q_rows|]. apply row_or_empty, q_rows. Qed.

Lemma recursion_step : forall k ks r, by_recursion (k :: ks) r = total (fun x => Q x * (
  share (r x) (Q x) * (1 + recursive V p q (c ++ [x]) k) + (1 - share (r x) (Q x)) * by_recursion ks (normalise (excess r Q)))).
Proof.
  intros k ks r. unfold by_recursion at 1, node. simpl two_levels. simpl draw. simpl.
  destruct (Rlt_dec 0 (total Q)) as [L|L]; [|rewrite (proj2 (q_rows c)) in L; lra].
  simpl. apply total_ext. intros x. f_equal.
  pose proof (RecursiveRejection.first_child_first V p q true (draw V q true (leaves k) (c ++ [x]) (q (c ++ [x])))
    (draw V q true (two_levels ks) c Q) c Q (c ++ [x]) (q (c ++ [x])) x r Q (tokens c)) as F.
  unfold node in F at 1. rewrite mean_bind in F. rewrite mean_bind.
  rewrite F; [|apply draw_sampled; [apply q_rows|apply row_or_empty, q_rows]|apply rest_sampled]. f_equal. f_equal.
  transitivity (1 + (2 - 1) * recursive V p q (c ++ [x]) k); [|ring].
  apply (two_values V p q q_rows (c ++ [x]) (tokens c) 1 2); intros; [apply one_more|apply two_more].
Qed.

Lemma traversal_step : forall k ks r, is_row V r -> by_traversal (k :: ks) r = total (fun x => Q x * (
  share (r x) (Q x) + leaf (c ++ [x]) k (share (r x) (Q x)) (p (c ++ [x])) +
  (1 - share (r x) (Q x)) * by_traversal ks (normalise (excess r Q)))).
Proof.
  intros k ks r R. unfold by_traversal at 1, subtree. simpl two_levels. simpl draw. simpl.
  destruct (Rlt_dec 0 (total Q)) as [L|L]; [|rewrite (proj2 (q_rows c)) in L; lra].
  simpl. apply total_ext. intros x. f_equal.
  pose proof (Traversal.first_child_first V p q true (draw V q true (leaves k) (c ++ [x]) (q (c ++ [x])))
    (draw V q true (two_levels ks) c Q) c Q x 1 r Q (tokens_if c) (rest_sampled ks)) as F.
  unfold subtree in F at 1. rewrite mean_bind in F. rewrite mean_bind. rewrite F. rewrite Rmult_1_l.
  destruct (next_is_residual r) as [-> N]. rewrite (functional_extensionality _ _ N).
  change (mean (subtree V p q true (draw V q true (two_levels ks) c Q) c 1 (normalise (excess r Q)) (after V true Q x))
    (tokens_if c)) with (by_traversal ks (normalise (excess r Q))).
  set (v := by_traversal ks _). set (w := share (r x) (Q x)).
  assert (E : entered V w (p (c ++ [x]))) by (split; [apply share_bounds, R|right; apply p_rows]).
  destruct (stops_at_rate (c ++ [x]) k w (p (c ++ [x])) E) as [S J].
  pose proof (rate_values (c ++ [x]) (tokens_if c) 1 2 eq_refl) as W. unfold entered_at, subtree in S, J, W.
  rewrite (mean_ext V _ _ _ (fun found => tokens_if c found + v * rejected found))
    by (intros [s|]; simpl; ring).
  rewrite mean_add, mean_mul, J.
  rewrite W, S; [ring| |].
  - intros. apply one_more.
  - intros. apply two_more.
Qed.

Lemma root_above : forall ks r, is_row V r -> by_recursion ks r <= by_traversal ks r.
Proof.
  induction ks as [|k ks IH]; intros r R.
  - unfold by_recursion, by_traversal, node, subtree. simpl. unfold tokens. simpl. rewrite Nat.sub_diag. simpl. lra.
  - rewrite recursion_step, traversal_step by auto.
    pose proof (rejected_mass V r Q (proj1 R) (q_rows c)) as J. rewrite (proj2 R) in J.
    apply total_le_in. intros x I. pose proof (proj1 (q_rows c) x) as N.
    pose proof (share_bounds (r x) (Q x) (proj1 R x)) as B. set (w := share (r x) (Q x)) in *.
    pose proof (leaf_above (c ++ [x]) w B k) as A.
    assert (T : Q x * (1 - w) * by_recursion ks (normalise (excess r Q)) <= Q x * (1 - w) * by_traversal ks (normalise (excess r Q))).
    { assert (M : 0 <= Q x * (1 - w)) by (apply Rmult_le_pos; lra).
      destruct (Rle_lt_or_eq_dec 0 (total (excess r Q))) as [G|G].
      - apply total_nonneg. intros. apply excess_nonneg.
      - apply Rmult_le_compat_l; auto. apply IH, normalise_row; auto. intros. apply excess_nonneg.
      - assert (Z : Q x * (1 - w) = 0); [|rewrite Z; lra].
        apply (total_zero V (fun x => Q x * (1 - share (r x) (Q x)))); auto.
        + intros y. apply (rejection_nonneg V r Q (proj1 R) (q_rows c)).
        + rewrite J. lra. }
    assert (Q x * (w * recursive V p q (c ++ [x]) k) <= Q x * leaf (c ++ [x]) k w (p (c ++ [x])))
      by (apply Rmult_le_compat_l; auto).
    lra.
Qed.

Theorem traversal_above_recursive : forall ks,
  mean (recursive_rejection_iteration V p q true (draw V q true (two_levels ks) c Q) c) (tokens c) <=
  mean (traversal_iteration V p q true (draw V q true (two_levels ks) c Q) c) (tokens_if c).
Proof. intros ks. apply (root_above ks (p c) (p_rows c)). Qed.

End Root.
End Above.
