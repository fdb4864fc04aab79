(** Of what any single-step rule can accept of K siblings drawn with replacement, recursive rejection accepts at
    least the least value of 1 - y^K + y^(2K-1) on [0, 1], and for no larger share is that so. *)

Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
Require Import Programs Numbers Means Lossless RecursiveRejection MaxFlow Alpha KSeq.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** K siblings without children, and whether a drafted token was accepted. *)
Fixpoint leaves (k : nat) : shape := match k with 0 => NoShape | S k => Shape NoShape (leaves k) end.
Definition one_accepted (c : context) (s : stop) : R := if (length (fst s) =? length c)%nat then 0 else 1.

(** With what probability recursive rejection accepts one of K siblings below [c]. *)
Definition recursive (V : nat) (p q : context -> row) (c : context) (k : nat) : R :=
  mean V (recursive_rejection_iteration V p q true (draw V q true (leaves k) c (q c)) c) (one_accepted c).

Definition least_share (n : nat) (s : R) : Prop := forall y, 0 <= y <= 1 -> s <= 1 - y ^ S n + y ^ S (n + n).

Section Accepted.
Variable V : nat.
Variables p q : context -> row.
Hypothesis q_rows : forall c, is_row V (q c).
Variable c : context.
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation Q := (q c).

Definition judged (k : nat) (r : row) : program stop := node V p q true (draw V q true (leaves k) c Q) c r Q.

Lemma judged_step : forall k r F, mean (judged (S k) r) F = total (fun x => Q x *
  (share (r x) (Q x) * F (c ++ [x], p (c ++ [x])) +
   (1 - share (r x) (Q x)) * mean (judged k (normalise (excess r Q))) F)).
Proof.
  intros k r F. unfold judged, node. simpl leaves. simpl draw. simpl.
  destruct (Rlt_dec 0 (total Q)) as [L|L]; [|rewrite (proj2 (q_rows c)) in L; lra].
  simpl. apply total_ext. intros x. rewrite !mean_bind. simpl.
  rewrite mean_add, !mean_mul, (mean_sampled V q (in_order V true) c Q); [reflexivity|].
  apply draw_sampled; [apply q_rows|]. apply row_or_empty, q_rows.
Qed.

Definition of_row (k : nat) (r : row) : R := mean (judged k r) (one_accepted c).

Lemma deeper_accepted : forall x r, one_accepted c (c ++ [x], r) = 1.
Proof.
  intros x r. unfold one_accepted. simpl. rewrite app_length. simpl.
  destruct (Nat.eqb_spec (length c + 1) (length c)); [lia|auto].
Qed.

(** What has one value where no token was accepted and another where one was. *)
Lemma two_values : forall F none one, (forall r, F (c, r) = none) -> (forall x r, F (c ++ [x], r) = one) ->
  forall k r, mean (judged k r) F = none + (one - none) * of_row k r.
Proof.
  intros F none one N O. unfold of_row. induction k as [|k IH]; intros r.
  - unfold judged, node. simpl. rewrite N. unfold one_accepted. simpl. rewrite Nat.eqb_refl. ring.
  - rewrite !judged_step. set (v := normalise (excess r Q)).
    rewrite (total_ext V _ (fun x => none * Q x + (one - none) * (Q x * (share (r x) (Q x) *
      one_accepted c (c ++ [x], p (c ++ [x])) + (1 - share (r x) (Q x)) * mean (judged k v) (one_accepted c))))).
    + rewrite total_add, !total_mul, (proj2 (q_rows c)). ring.
    + intros x. rewrite O, IH, deeper_accepted. ring.
Qed.

Lemma of_row_step : forall k r, is_row V r ->
  1 - of_row (S k) r = total (excess r Q) * (1 - of_row k (normalise (excess r Q))).
Proof.
  intros k r R. pose proof (rejected_mass V r Q (proj1 R) (q_rows c)) as J. rewrite (proj2 R) in J.
  unfold of_row. rewrite judged_step. fold (of_row k (normalise (excess r Q))).
  rewrite (total_ext V _ (fun x => Q x - Q x * (1 - share (r x) (Q x)) +
    of_row k (normalise (excess r Q)) * (Q x * (1 - share (r x) (Q x)))))
    by (intros; rewrite deeper_accepted; ring).
  rewrite total_add, total_mul, total_sub, J, (proj2 (q_rows c)). ring.
Qed.

(** ** What is refused: f (level 0 K), where each sibling raises the level by f *)

Section Levels.
Hypothesis p_row : is_row V (p c).
Notation P := (p c).

Definition over (t : R) : row := excess P (scale t Q).
Definition f (t : R) : R := total (over t).
Fixpoint level (t : R) (k : nat) : R := match k with 0 => t | S k => level (t + f t) k end.

Lemma f_nonneg : forall t, 0 <= f t.
Proof. intros. apply total_nonneg. intros. apply excess_nonneg. Qed.

Lemma level_stays : forall k t, f t = 0 -> level t k = t.
Proof. induction k as [|k IH]; simpl; intros t Z; auto. rewrite Z, Rplus_0_r. auto. Qed.

Lemma level_above : forall k t, t <= level t k.
Proof. induction k as [|k IH]; simpl; intros t; [lra|]. pose proof (IH (t + f t)). pose proof (f_nonneg t). lra. Qed.

Lemma over_twice : forall t, 0 < f t -> excess (normalise (over t)) Q = scale (/ f t) (over (t + f t)).
Proof.
  intros t L. apply functional_extensionality. intros x. pose proof (proj1 (q_rows c) x) as N.
  unfold RealPrograms.normalise. fold (f t). simpl. destruct (Rlt_dec 0 (f t)); [|lra].
  assert (D : 0 < / f t) by (apply Rinv_0_lt_compat; auto).
  apply (Rmult_eq_reg_l (f t)); [|lra]. unfold scale. simpl.
  replace (f t * (/ f t * over (t + f t) x)) with (over (t + f t) x) by (field; lra).
  rewrite (excess_min _ Q). unfold over. rewrite !excess_min. unfold scale. simpl.
  replace (f t * ((P x - Rmin (P x) (t * Q x)) / f t - Rmin ((P x - Rmin (P x) (t * Q x)) / f t) (Q x)))
    with (P x - Rmin (P x) (t * Q x) - f t * Rmin ((P x - Rmin (P x) (t * Q x)) / f t) (Q x)) by (field; lra).
  assert (M : f t * Rmin ((P x - Rmin (P x) (t * Q x)) / f t) (Q x) =
    Rmin (P x - Rmin (P x) (t * Q x)) (f t * Q x)).
  { unfold Rmin at 1 3.
    set (v := P x - _). destruct (Rle_dec (v / f t) (Q x)) as [H|H], (Rle_dec v (f t * Q x)) as [K|K]; try field; try lra.
    - exfalso. apply K. apply (Rmult_le_compat_l (f t)) in H; [|lra]. replace (f t * (v / f t)) with v in H by (field; lra). auto.
    - exfalso. apply H. apply (Rmult_le_reg_l (f t)); auto. replace (f t * (v / f t)) with v by (field; lra). auto. }
  rewrite M. unfold Rmin. assert (0 <= f t * Q x) by (apply Rmult_le_pos; lra).
  repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; lra.
Qed.

Lemma normalise_scaled : forall a r, 0 < a -> normalise (scale a r) = normalise r \/ total r <= 0.
Proof.
  intros a r A. destruct (Rlt_dec 0 (total r)) as [L|L]; [left|right; lra].
  apply functional_extensionality. intros x. unfold RealPrograms.normalise, scale. simpl. rewrite total_mul.
  destruct (Rlt_dec 0 (a * total r)) as [M|M]; [|exfalso; apply M, Rmult_lt_0_compat; auto].
  destruct (Rlt_dec 0 (total r)); [field; lra|lra].
Qed.

Lemma refused_from : forall k t, 0 < f t -> f t * (1 - of_row k (normalise (over t))) = f (level t k).
Proof.
  induction k as [|k IH]; intros t L.
  - simpl. unfold of_row, judged, node. simpl. unfold one_accepted. simpl. rewrite Nat.eqb_refl. ring.
  - rewrite of_row_step by (apply normalise_row; auto; intros; apply excess_nonneg). simpl level.
    rewrite (over_twice t L). unfold scale at 1. rewrite total_mul. fold (f (t + f t)).
    assert (D : 0 < / f t) by (apply Rinv_0_lt_compat; auto).
    replace (f t * (/ f t * f (t + f t) * (1 - of_row k (normalise (scale (/ f t) (over (t + f t)))))))
      with (f (t + f t) * (1 - of_row k (normalise (scale (/ f t) (over (t + f t)))))) by (field; lra).
    destruct (normalise_scaled (/ f t) (over (t + f t)) D) as [->|Z].
    + destruct (Rle_lt_or_eq_dec _ _ (f_nonneg (t + f t))) as [G|G]; [apply IH; auto|].
      rewrite level_stays, <- G by auto. ring.
    + assert (E : f (t + f t) = 0) by (pose proof (f_nonneg (t + f t)); unfold f at 1 in Z; fold f in *; unfold f in *; lra).
      rewrite level_stays, E by auto. ring.
Qed.

Lemma over_none : over 0 = P.
Proof.
  apply functional_extensionality. intros x. unfold over. rewrite excess_min. unfold scale. simpl.
  pose proof (proj1 p_row x). rewrite Rmult_0_l, Rmin_right by lra. ring.
Qed.

Lemma f_none : f 0 = 1.
Proof. unfold f. rewrite over_none. apply p_row. Qed.

Theorem recursive_refuses : forall k, recursive V p q c k = 1 - f (level 0 k).
Proof.
  intros k. assert (N : normalise P = P).
  { apply functional_extensionality. intros x. unfold RealPrograms.normalise. rewrite (proj2 p_row). simpl.
    destruct (Rlt_dec 0 1); [field|lra]. }
  pose proof (refused_from k 0) as F. rewrite f_none, over_none, N in F. specialize (F Rlt_0_1).
  assert (recursive V p q c k = of_row k P) as ->; [reflexivity|lra].
Qed.

(** Of the tokens of a set with q-mass x and p-mass l, of which those outside have p > T q, T the last level. *)
Lemma refuses_at_most : forall n, let T := level 0 (S n) in
  let H := fun x => if Rle_dec (P x) (T * Q x) then true else false in
  f T <= of_set V Q H ^ n * (of_set V Q H - of_set V P H).
Proof.
  intros n T H. set (x := of_set V Q H). set (l := of_set V P H).
  set (d := fun t => (1 - l) - (1 - x) * t).
  assert (X : 0 <= x <= 1) by (split; [apply of_set_nonneg, q_rows|apply of_set_le, q_rows]).
  assert (E : forall t, d t = total (fun y => if H y then 0 else P y - t * Q y)).
  { intros t. unfold d, x, l, of_set. rewrite <- (proj2 p_row) at 1. rewrite <- (proj2 (q_rows c)) at 1.
    rewrite <- !total_sub, <- total_mul_right, <- total_sub. apply total_ext. intros y. destruct (H y); ring. }
  assert (A : forall t, d t <= f t).
  { intros t. rewrite E. apply total_le. intros y. unfold over. rewrite excess_min. unfold scale. simpl.
    unfold Rmin. destruct (H y), (Rle_dec (P y) (t * Q y)); lra. }
  assert (B : f T <= d T).
  { rewrite E. apply total_le. intros y. unfold over. rewrite excess_min. unfold scale, H. simpl.
    destruct (Rle_dec (P y) (T * Q y)); [rewrite Rmin_left|rewrite Rmin_right]; lra. }
  assert (C : forall k t, d (level t k) <= x ^ k * d t).
  { induction k as [|k IH]; simpl; intros t; [lra|]. apply Rle_trans with (x ^ k * d (t + f t)); [apply IH|].
    replace (x * x ^ k * d t) with (x ^ k * (x * d t)) by ring. apply Rmult_le_compat_l; [apply pow_le; lra|].
    pose proof (A t). unfold d in *. nra. }
  apply Rle_trans with (d T); auto. unfold T at 1. simpl. rewrite Rplus_0_l, f_none.
  apply Rle_trans with (x ^ n * d 1); [apply C|]. unfold d. right. ring.
Qed.

Theorem at_least : forall n s g, least_share n s -> Alpha.plan V P (iid V Q (S n)) g ->
  s * accepted V (iid V Q (S n)) g <= recursive V p q c (S n).
Proof.
  intros n s g L G. rewrite recursive_refuses.
  pose proof (refuses_at_most n) as F. cbv zeta in F. set (T := level 0 (S n)) in *.
  set (H := fun x => if Rle_dec (P x) (T * Q x) then true else false) in *.
  pose proof (plan_at_most V P (iid V Q (S n)) (iid_law V Q (q_rows c) (S n)) g H G) as A.
  pose proof (plan_at_most V P (iid V Q (S n)) (iid_law V Q (q_rows c) (S n)) g (fun _ => true) G) as U.
  rewrite (iid_inside V Q (S n)) in A, U. change (of_set V Q (fun _ => true)) with (total Q) in U.
  change (of_set V P (fun _ => true)) with (total P) in U. rewrite (proj2 p_row), (proj2 (q_rows c)), pow1 in U.
  assert (Z : 0 <= accepted V (iid V Q (S n)) g).
  { destruct G as [N _]. apply total_nonneg. intros i. apply total_nonneg. auto. }
  assert (X : 0 <= of_set V Q H <= 1) by (split; [apply of_set_nonneg, q_rows|apply of_set_le, q_rows]).
  assert (Y : 0 <= of_set V P H) by (apply of_set_nonneg, p_row).
  set (x := of_set V Q H) in *. set (l := of_set V P H) in *. set (a := accepted V (iid V Q (S n)) g) in *.
  pose proof (L x X) as M. pose proof (pow_le x n (proj1 X)) as W. pose proof (f_nonneg T) as O.
  assert (One : s <= 1) by (pose proof (L 0 ltac:(lra)) as L0; rewrite !pow_i in L0 by lia; lra).
  assert (W1 : x ^ n <= 1) by (rewrite <- (pow1 n); apply pow_incr; auto).
  replace (x ^ S (n + n)) with (x ^ n * x ^ S n) in M by (rewrite <- pow_add; f_equal; lia).
  assert (K : x ^ S n = x * x ^ n) by reflexivity. set (w := x ^ n) in *. rewrite K in *.
  destruct (Rle_dec s 0) as [S0|S0]; [assert (w * (x - l) <= 1) by nra; nra|].
  destruct (Rle_dec (x * w) l) as [B|B].
  - (* any rule may accept all *)
    apply Rle_trans with s; [nra|]. assert (w * (x - l) <= w * (x - x * w)) by (apply Rmult_le_compat_l; lra). nra.
  - apply Rle_trans with (s * (1 + (l - x * w))); [apply Rmult_le_compat_l; lra|].
    apply Rle_trans with (1 - w * (x - l)); [|lra].
    (* linear in l: true for l = 0 and for l = x w *)
    assert (P0 : 0 < x * w) by lra.
    assert (Le : x * w <= 1) by nra.
    assert (A0 : 0 <= (1 - s) * (1 - x * w)) by (apply Rmult_le_pos; lra).
    assert (A1 : 0 <= 1 - x * w + w * (x * w) - s) by lra.
    apply (Rmult_le_reg_l (x * w)); auto.
    assert (0 <= (x * w - l) * ((1 - s) * (1 - x * w))) by (apply Rmult_le_pos; lra).
    assert (0 <= l * (1 - x * w + w * (x * w) - s)) by (apply Rmult_le_pos; lra). nra.
Qed.

End Levels.
End Accepted.

(** ** Where it is reached: two tokens with p = (y^K, 1 - y^K), q = (y, 1 - y) *)

Definition two (a : R) : context -> row := fun _ x => match x with 0%nat => a | 1%nat => 1 - a | _ => 0 end.

Lemma two_row : forall a c, 0 <= a <= 1 -> is_row 2 (two a c).
Proof. intros a c A. split; [intros [|[|x]]; simpl; lra|]. unfold RealPrograms.total. simpl. ring. Qed.

Lemma power_bounds : forall y n, 0 <= y <= 1 -> 0 <= y ^ S n <= y.
Proof.
  intros y n Y. pose proof (pow_le y n (proj1 Y)). pose proof (pow_incr y 1 n Y) as P. rewrite pow1 in P. simpl. nra.
Qed.

Lemma reached : forall n y, 0 <= y <= 1 -> let p := two (y ^ S n) in let q := two y in
  (exists g, Alpha.plan 2 (p []) (iid 2 (q []) (S n)) g /\ accepted 2 (iid 2 (q []) (S n)) g = 1) /\
  recursive 2 p q [] (S n) = 1 - y ^ S n + y ^ S (n + n).
Proof.
  intros n y Y p q. pose proof (power_bounds y n Y) as L. set (l := y ^ S n) in *.
  assert (P : forall c, is_row 2 (p c)) by (intros; apply two_row; lra).
  assert (Q : forall c, is_row 2 (q c)) by (intros; apply two_row; auto).
  split.
  - apply (iid_never_fail 2 (q []) (Q []) (p []) (S n) (P [])). intros H.
    pose proof (power_bounds (1 - y) n ltac:(lra)) as M.
    unfold of_set, RealPrograms.total. simpl fold_right. destruct (H 0%nat), (H 1%nat).
    + replace (y + (1 - y + 0)) with 1 by ring. rewrite pow1. lra.
    + replace (y + (0 + 0)) with y by ring. fold l. lra.
    + replace (0 + (1 - y + 0)) with (1 - y) by ring. lra.
    + replace (0 + (0 + 0)) with 0 by ring. rewrite pow_i by lia. lra.
  - rewrite (recursive_refuses 2 p q Q [] (P [])).
    set (d := fun t => (1 - l) - (1 - y) * t).
    assert (F : forall t, 1 <= t -> 0 <= d t -> f 2 p q [] t = d t).
    { intros t T D. unfold f, RealPrograms.total, RealPrograms.vocabulary. cbn [fold_right seq].
      unfold over. rewrite !excess_min. unfold scale, d in *. simpl.
      rewrite (Rmin_left l) by nra. rewrite Rmin_right by lra. ring. }
    assert (G : forall k t, 1 <= t -> 0 <= d t -> f 2 p q [] (level 2 p q [] t k) = y ^ k * d t).
    { induction k as [|k IH]; intros t T D; [simpl; rewrite F by auto; ring|]. simpl level. rewrite (F t T D).
      assert (E : d (t + d t) = y * d t) by (unfold d; ring).
      rewrite IH; [rewrite E; simpl; ring|lra|rewrite E; apply Rmult_le_pos; lra]. }
    simpl level. rewrite (f_none 2 p q [] (P [])), Rplus_0_l, G; [|lra|unfold d; lra].
    unfold d. replace (y ^ S (n + n)) with (y ^ n * l) by (unfold l; rewrite <- pow_add; f_equal; lia).
    unfold l. simpl. ring.
Qed.

Theorem recursive_price : forall n s, least_share n s <->
  forall V p q c g, (forall c, is_row V (p c)) -> (forall c, is_row V (q c)) -> Alpha.plan V (p c) (iid V (q c) (S n)) g ->
  s * accepted V (iid V (q c) (S n)) g <= recursive V p q c (S n).
Proof.
  intros n s. split.
  - intros L V p q c g P Q G. apply at_least; auto.
  - intros A y Y. destruct (reached n y Y) as [[g [G E]] W]. rewrite <- W, <- (Rmult_1_r s), <- E.
    apply A; auto; intros; apply two_row; auto. pose proof (power_bounds y n Y). lra.
Qed.

(** ** The least value: at y^(K-1) = K/(2K-1) *)

Lemma power_step : forall b a s, 0 <= s -> (b <= a)%nat -> s ^ b - 1 <= INR b * (s ^ a * (s - 1)).
Proof.
  induction b as [|b IH]; intros a s N L; [simpl; lra|]. specialize (IH a s N ltac:(lia)).
  rewrite S_INR. simpl. replace (s ^ a) with (s ^ b * s ^ (a - b)) in * by (rewrite <- pow_add; f_equal; lia).
  pose proof (pow_same_order s 1 (a - b) N ltac:(lra)) as O. rewrite pow1 in O. pose proof (pow_le s b N). nra.
Qed.

Lemma power_mean : forall b m s, 0 <= s -> INR (b + m) * (s ^ b - 1) <= INR b * (s ^ (b + m) - 1).
Proof.
  intros b m s N. induction m as [|m IH]; [rewrite Nat.add_0_r; lra|].
  pose proof (power_step b (b + m) s N ltac:(lia)). replace (b + S m)%nat with (S (b + m)) by lia.
  rewrite S_INR. simpl. lra.
Qed.

Theorem least_share_at : forall n y, 0 < y -> INR (S (n + n)) * y ^ n = INR (S n) ->
  least_share n (1 - y ^ S n + y ^ S (n + n)).
Proof.
  intros n y Y E z Z. pose proof (power_mean (S n) n (z / y)) as M.
  assert (I : 0 < / y) by (apply Rinv_0_lt_compat; auto).
  assert (U : 0 <= z / y) by (apply Rmult_le_pos; lra). specialize (M U). set (u := z / y) in *.
  assert (V : z = y * u) by (unfold u; field; lra).
  change (S n + n)%nat with (S (n + n)) in M. rewrite V, !Rpow_mult_distr.
  replace (y ^ S (n + n)) with (y ^ S n * y ^ n) by (rewrite <- pow_add; f_equal; lia).
  pose proof (lt_INR 0 (S (n + n)) ltac:(lia)) as N. simpl (INR 0) in N.
  set (A := INR (S (n + n))) in *. set (B := INR (S n)) in *.
  assert (W : y ^ n = B / A) by (apply (Rmult_eq_reg_l A); [rewrite E; field|]; lra).
  rewrite W. pose proof (pow_lt y (S n) Y) as G. set (w := y ^ S n) in *.
  set (v := u ^ S n) in *. set (t := u ^ S (n + n)) in *.
  assert (C : 0 <= (B * t - A * v + A - B) / A) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; auto]).
  assert (D : 0 <= w * ((B * t - A * v + A - B) / A)) by (apply Rmult_le_pos; lra).
  replace (w * ((B * t - A * v + A - B) / A)) with (w * (B / A) * t - w * v + w - w * (B / A)) in D by (field; lra). lra.
Qed.
