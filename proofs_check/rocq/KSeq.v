(** K-SEQ accepts at least 1 - (1 - 1/k)^k, and so 1 - 1/e, of what any single-step rule can of k i.i.d. drafts. *)

Require Import Reals Lra List Arith Bool Lia.
Require Import Programs Numbers Means Lossless MaxFlow Alpha.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section KSeq.
Variable V : nat.
Variables p q : row.
Hypothesis p_row : is_row V p.
Hypothesis q_row : is_row V q.
Notation total := (total V).

(** With what probability a drafted token is kept, and one of k drafts that are judged one after the other. *)
Definition kept (rho : R) (x : token) : R := Rmin 1 (p x / (rho * q x)).
Fixpoint k_seq (rho : R) (k : nat) : R :=
  match k with 0 => 0 | S k => total (fun x => q x * (kept rho x + (1 - kept rho x) * k_seq rho k)) end.

Definition beta (rho : R) : R := total (fun x => q x * kept rho x).

Lemma k_seq_beta : forall rho k, k_seq rho k = 1 - (1 - beta rho) ^ k.
Proof.
  intros rho. induction k as [|k IH]; simpl; [ring|]. rewrite IH. unfold beta. set (v := 1 - _ ^ k).
  rewrite (total_ext V _ (fun x => q x * kept rho x + v * (q x - q x * kept rho x))) by (intros; ring).
  rewrite total_add, total_mul, total_sub, (proj2 q_row). unfold v, beta. ring.
Qed.

(** ** Powers *)

Lemma pow_same_order : forall a b k, 0 <= a -> 0 <= b -> 0 <= (a - b) * (a ^ k - b ^ k).
Proof.
  intros a b k A B. destruct (Rle_dec a b) as [L|L].
  - pose proof (pow_incr a b k (conj A L)). nra.
  - pose proof (pow_incr b a k ltac:(lra)). nra.
Qed.

Lemma pow_convex : forall a b t k, 0 <= a -> 0 <= b -> 0 <= t <= 1 ->
  ((1 - t) * a + t * b) ^ k <= (1 - t) * a ^ k + t * b ^ k.
Proof.
  intros a b t k A B T. induction k as [|k IH]; simpl; [lra|].
  pose proof (pow_same_order a b k A B) as O.
  apply Rle_trans with (((1 - t) * a + t * b) * ((1 - t) * a ^ k + t * b ^ k)).
  - apply Rmult_le_compat_l; [nra|exact IH].
  - assert (0 <= t * (1 - t) * ((a - b) * (a ^ k - b ^ k))) by (apply Rmult_le_pos; nra). nra.
Qed.

Lemma one_minus_pow : forall x k, 0 <= x <= 1 -> 1 - x ^ k <= INR k * (1 - x).
Proof.
  intros x k X. induction k as [|k IH]; [simpl; lra|]. rewrite S_INR. simpl.
  pose proof (pow_incr x 1 k X) as P. rewrite pow1 in P. nra.
Qed.

(** ** The factor *)

Definition most (k : nat) : R := total (fun x => Rmin (p x) (INR k * q x)).

Lemma at_most_most : forall k g, (0 < k)%nat -> Alpha.plan V p (iid V q k) g -> accepted V (iid V q k) g <= most k.
Proof.
  intros k g K G. set (H := fun x => if Rle_dec (p x) (INR k * q x) then true else false).
  pose proof (plan_at_most V p (iid V q k) (iid_law V q q_row k) g H G) as A.
  rewrite (iid_inside V q k H) in A.
  assert (B : 0 <= of_set V q H <= 1) by (split; [apply of_set_nonneg, q_row|apply of_set_le; auto]).
  pose proof (one_minus_pow _ k B) as C.
  assert (M : most k = of_set V p H + INR k * (1 - of_set V q H)); [|lra].
  unfold most, of_set. rewrite <- (proj2 q_row), <- total_sub, <- total_mul, <- total_add. apply total_ext.
  intros x. unfold H. destruct (Rle_dec (p x) (INR k * q x)); [rewrite Rmin_left by lra|rewrite Rmin_right by lra]; ring.
Qed.

Lemma kept_bounds : forall rho x, 0 < rho -> 0 <= q x * kept rho x <= q x.
Proof.
  intros rho x R. pose proof (proj1 q_row x) as Q. pose proof (proj1 p_row x) as P. unfold kept.
  assert (0 <= Rmin 1 (p x / (rho * q x)) <= 1); [|nra]. split; [|apply Rmin_l].
  apply Rmin_glb; [lra|]. destruct (Rle_lt_or_eq_dec _ _ Q) as [L|E].
  - apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; auto.
  - rewrite <- E, Rmult_0_r. unfold Rdiv. rewrite Rinv_0. lra.
Qed.

Lemma most_beta : forall rho k, 0 < rho <= INR k -> most k <= INR k * beta rho /\ 0 <= beta rho <= 1.
Proof.
  intros rho k [R K]. assert (N : 0 < INR k) by lra. split.
  - unfold most, beta. rewrite <- total_mul. apply total_le. intros x.
    pose proof (proj1 q_row x) as Q. pose proof (proj1 p_row x) as P.
    destruct (Rle_lt_or_eq_dec _ _ Q) as [L|E].
    + unfold kept. assert (D : 0 < rho * q x) by (apply Rmult_lt_0_compat; auto).
      apply Rmin_case with (P := fun m => Rmin (p x) (INR k * q x) <= INR k * (q x * m)).
      * rewrite Rmult_1_r. apply Rmin_r.
      * apply Rle_trans with (p x); [apply Rmin_l|].
        replace (INR k * (q x * (p x / (rho * q x)))) with (p x * (INR k / rho)) by (field; lra).
        rewrite <- (Rmult_1_r (p x)) at 1. apply Rmult_le_compat_l; auto.
        apply (Rmult_le_reg_r rho); auto. replace (INR k / rho * rho) with (INR k) by (field; lra). lra.
    + rewrite <- E. rewrite Rmult_0_r, Rmult_0_l, Rmult_0_r. apply Rmin_r.
  - unfold beta. split; [apply total_nonneg; intros; apply kept_bounds; auto|].
    rewrite <- (proj2 q_row). apply total_le. intros. apply kept_bounds. auto.
Qed.

Definition factor (k : nat) : R := 1 - (1 - / INR k) ^ k.

Theorem k_seq_factor : forall rho k g, (0 < k)%nat -> 0 < rho <= INR k -> Alpha.plan V p (iid V q k) g ->
  factor k * accepted V (iid V q k) g <= k_seq rho k.
Proof.
  intros rho k g K R G. pose proof (at_most_most k g K G) as A. destruct (most_beta rho k R) as [M B].
  assert (N : 1 <= INR k) by (apply (le_INR 1); lia). rewrite k_seq_beta.
  assert (I : 0 < / INR k <= 1) by (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  assert (F : 0 <= factor k).
  { unfold factor. pose proof (pow_incr (1 - / INR k) 1 k ltac:(lra)) as P. rewrite pow1 in P. lra. }
  (* t tokens of k are kept on average, as far as one can be *)
  set (t := Rmin 1 (INR k * beta rho)).
  assert (T : 0 <= t <= 1).
  { unfold t. split; [apply Rmin_glb; nra|apply Rmin_l]. }
  assert (W : accepted V (iid V q k) g <= t).
  { unfold t. apply Rmin_glb; [|lra]. pose proof (plan_at_most V p (iid V q k) (iid_law V q q_row k) g (fun _ => true) G) as U.
    rewrite (iid_inside V q k) in U. change (of_set V q (fun _ => true)) with (total q) in U.
    change (of_set V p (fun _ => true)) with (total p) in U. rewrite (proj2 p_row), (proj2 q_row), pow1 in U. lra. }
  apply Rle_trans with (factor k * t); [apply Rmult_le_compat_l; auto|].
  assert (L : (1 - beta rho) ^ k <= (1 - t * / INR k) ^ k).
  { apply pow_incr. split; [lra|]. assert (t * / INR k <= beta rho); [|lra].
    apply (Rmult_le_reg_r (INR k)); [lra|]. rewrite Rmult_assoc, Rinv_l by lra.
    rewrite Rmult_1_r, (Rmult_comm (beta rho)). unfold t. apply Rmin_r. }
  pose proof (pow_convex 1 (1 - / INR k) t k ltac:(lra) ltac:(lra) T) as C. rewrite pow1 in C.
  replace ((1 - t) * 1 + t * (1 - / INR k)) with (1 - t * / INR k) in C by ring. unfold factor. lra.
Qed.

(** By its series: the library's proofs by derivatives need a classical axiom. *)
Lemma exp_above : forall x, 0 <= x <= 1 -> 1 - x <= exp (- x).
Proof.
  intros x X. set (u := fun n => x ^ n * / INR (fact n)).
  assert (P : forall n, 0 < / INR (fact n)) by (intros; apply Rinv_0_lt_compat, INR_fact_lt_0).
  assert (D : Un_decreasing u).
  { intros n. unfold u. assert (W : 0 <= x ^ n) by (apply pow_le; lra).
    rewrite fact_simpl, mult_INR, Rinv_mult. simpl pow.
    assert (I : 0 < / INR (S n) <= 1).
    { pose proof (le_INR 1 (S n) ltac:(lia)) as L. split; [apply Rinv_0_lt_compat; simpl in *; lra|].
      rewrite <- Rinv_1. apply Rinv_le_contravar; simpl in *; lra. }
    pose proof (P n). assert (0 <= x ^ n * / INR (fact n)) by (apply Rmult_le_pos; lra).
    replace (x * x ^ n * (/ INR (S n) * / INR (fact n))) with (x * / INR (S n) * (x ^ n * / INR (fact n))) by ring.
    assert (x * / INR (S n) <= 1) by nra. nra. }
  pose proof (alternated_series_ineq u (exp (- x)) 0 D (cv_speed_pow_fact x)) as A.
  destruct A as [A _].
  - unfold exp. destruct (exist_exp (- x)) as [l L]. simpl. intros e E. destruct (L e E) as [n H]. exists n.
    intros m M. rewrite (sum_eq _ (fun i => / INR (fact i) * (- x) ^ i)); [apply H; auto|].
    intros i _. unfold tg_alt, u. replace (- x) with (-1 * x) by ring. rewrite Rpow_mult_distr. ring.
  - unfold tg_alt, u in A. simpl in A. lra.
Qed.

Theorem factor_above : forall k, (0 < k)%nat -> 1 - exp (-1) <= factor k.
Proof.
  intros k K. assert (N : 1 <= INR k) by (apply (le_INR 1); lia).
  assert (E : forall n y, exp y ^ n = exp (INR n * y)).
  { induction n as [|n IH]; intros y; [simpl; rewrite Rmult_0_l, exp_0; auto|].
    rewrite S_INR. simpl. rewrite IH, <- exp_plus. f_equal. ring. }
  assert (I : 0 < / INR k <= 1) by (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  unfold factor. assert ((1 - / INR k) ^ k <= exp (-1)); [|lra].
  replace (-1) with (INR k * - / INR k) by (field; lra). rewrite <- E. apply pow_incr. split; [lra|].
  pose proof (exp_above (/ INR k) ltac:(lra)). lra.
Qed.

End KSeq.
