(** K-SEQ is lossless for every rho that its condition admits (sun2023spectr, Algorithm 2), and so is its lift.

    The k children are drawn from one row and judged in turn.  Whatever the rates, the j-th child is judged with the
    chance that no earlier one was kept, a power of 1 - beta; so no token is kept more than the row has of it. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Rules Numbers Means Lossless Lift Priority.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Plans.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).
Variable q : row.
Hypothesis q_row : is_row V q.

Definition chances (rates : list row) : Prop := Forall (fun rate => forall x, 0 <= rate x <= 1) rates.

(** What the children keep of a token on average. *)
Fixpoint taken (rates : list row) (x : token) : R :=
  match rates with
  | [] => 0
  | rate :: rates => q x * rate x + (1 - total (fun y => q y * rate y)) * taken rates x
  end.

Lemma given_zeros : forall x drawn, given x drawn (map (fun _ => 0) drawn) = 0.
Proof. intros x. induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. destruct (x =? y)%nat; ring. Qed.

Lemma alike : forall k, Forall (is_row V) (repeat q k).
Proof. intros k. apply Forall_forall. intros r J. apply repeat_spec in J. subst. auto. Qed.

Lemma in_turn_given : forall x, In x (vocabulary V) -> forall rates u,
  mean (draw_each (repeat q (length rates))) (fun drawn => given x drawn (in_turn rates drawn u)) = u * taken rates x.
Proof.
  intros x I. induction rates as [|rate rates IH]; intros u; simpl; [ring|].
  rewrite (total_ext V _ (fun y => q y * (if (x =? y)%nat then u * rate y else 0) +
    (u * taken rates x * q y - u * taken rates x * (q y * rate y)))).
  - rewrite total_add, total_sub, !total_mul, (proj2 q_row).
    rewrite (total_ext V _ (fun y => (q y * (u * rate y)) * (if (x =? y)%nat then 1 else 0)))
      by (intros y; destruct (x =? y)%nat; ring).
    rewrite (total_single V (fun y => q y * (u * rate y)) x 1 I). ring.
  - intros y. rewrite mean_bind. simpl. rewrite mean_add, IH.
    rewrite (mean_const V _ _ _ _ (draw_each_proper V (repeat q (length rates)) (alike _))). ring.
Qed.

Lemma in_turn_masses : forall rates drawn u, chances rates -> 0 <= u ->
  length (in_turn rates drawn u) = length drawn /\ (forall w, In w (in_turn rates drawn u) -> 0 <= w) /\
  sum (in_turn rates drawn u) <= u.
Proof.
  assert (Z : forall drawn : list token, length (map (fun _ => 0) drawn) = length drawn /\
    (forall w, In w (map (fun _ : token => 0) drawn) -> 0 <= w) /\ sum (map (fun _ : token => 0) drawn) = 0).
  { intros drawn. split; [apply map_length|]. split.
    - intros w J. apply in_map_iff in J. destruct J as [y [<- _]]. lra.
    - induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. ring. }
  induction rates as [|rate rates IH]; intros drawn u C U.
  - simpl. destruct (Z drawn) as [Z1 [Z2 Z3]]. rewrite Z3. auto.
  - destruct drawn as [|x drawn]; [simpl; split; [auto|split; [intros w []|lra]]|].
    inversion C as [|? ? C1 C2]; subst. specialize (C1 x). simpl.
    assert (K : 0 <= u * rate x <= u).
    { split; [apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_r u) at 2. apply Rmult_le_compat_l; lra. }
    destruct (IH drawn (u - u * rate x) C2) as [I1 [I2 I3]]; [lra|]. split; [congruence|]. split; [|lra].
    intros w [<-|J]; [lra|auto].
Qed.

(** ** K-SEQ's rates *)

Variable rho : R.
Variable t : row.
Hypothesis rho_positive : 0 < rho.
Hypothesis t_nonneg : forall x, 0 <= t x.

Notation kept := (kept_once rho t q).
Definition beta : R := total kept.

Lemma kept_min : forall x, kept x = Rmin (t x / rho) (q x).
Proof. intros. unfold kept_once. rewrite minimum_Rmin. reflexivity. Qed.

Lemma kept_bounds : forall x, 0 <= kept x /\ kept x <= q x /\ rho * kept x <= t x.
Proof.
  intros x. rewrite kept_min. pose proof (proj1 q_row x) as Q. pose proof (t_nonneg x) as T.
  assert (D : 0 <= t x / rho) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
  split; [apply Rmin_glb; auto|]. split; [apply Rmin_r|].
  apply Rle_trans with (rho * (t x / rho)); [apply Rmult_le_compat_l; [lra|apply Rmin_l]|].
  right. field. lra.
Qed.

Lemma rate_keeps : forall x, q x * k_seq_rate rho t q x = kept x.
Proof.
  intros x. rewrite kept_min. apply (Rmult_eq_reg_l rho); [|lra].
  change (k_seq_rate rho t q x) with (share (t x) (rho * q x)).
  replace (rho * (q x * share (t x) (rho * q x))) with (rho * q x * share (t x) (rho * q x)) by ring.
  rewrite share_mass; auto; [|apply Rmult_le_pos; [lra|apply q_row]].
  set (d := t x / rho). replace (t x) with (rho * d) by (unfold d; field; lra).
  unfold Rmin. destruct (Rle_dec (rho * d) (rho * q x)), (Rle_dec d (q x)); auto; exfalso; nra.
Qed.

Lemma rate_beta : total (fun x => q x * k_seq_rate rho t q x) = beta.
Proof. apply total_ext. apply rate_keeps. Qed.

Lemma beta_bounds : 0 <= beta <= 1.
Proof.
  split; [apply total_nonneg; intros; apply kept_bounds|]. rewrite <- (proj2 q_row). apply total_le. intros. apply kept_bounds.
Qed.

Lemma late_nonneg : forall k, 0 <= late beta k.
Proof. induction k as [|k IH]; simpl; [lra|]. pose proof beta_bounds. apply Rmult_le_pos; [lra|auto]. Qed.

Lemma geometric_next : forall k, geometric beta (S k) = geometric beta k + late beta k.
Proof. induction k as [|k IH]; [simpl; ring|]. change (1 + (1 - beta) * geometric beta (S k) = geometric beta (S k) + (1 - beta) * late beta k).
  rewrite IH at 1. simpl. ring.
Qed.

Lemma geometric_nonneg : forall k, 0 <= geometric beta k.
Proof. induction k as [|k IH]; [simpl; lra|]. rewrite geometric_next. pose proof (late_nonneg k). lra. Qed.

Lemma taken_in_turn : forall last k x,
  taken (k_seq_rates rho t q k ++ [last]) x = geometric beta k * kept x + late beta k * (q x * last x).
Proof.
  intros last. induction k as [|k IH]; intros x; simpl; [ring|].
  rewrite rate_beta, rate_keeps. unfold k_seq_rates in IH. rewrite IH. ring.
Qed.

Lemma taken_alike : forall k x, taken (k_seq_rates rho t q k) x = geometric beta k * kept x.
Proof.
  induction k as [|k IH]; intros x; simpl; [ring|]. rewrite rate_beta, rate_keeps. unfold k_seq_rates in IH. rewrite IH. ring.
Qed.

Theorem k_seq_taken : forall k x, geometric beta k <= rho ->
  taken (k_seq_rates rho t q k) x + k_seq_left V rho t q k x = t x.
Proof.
  intros k x A. rewrite taken_alike. unfold k_seq_left. rewrite excess_min.
  change (scale (geometric (total kept) k) kept x) with (geometric beta k * kept x).
  destruct (kept_bounds x) as [K1 [_ K2]]. rewrite Rmin_right; [ring|].
  apply Rle_trans with (rho * kept x); auto. apply Rmult_le_compat_r; auto.
Qed.

Lemma early_share : forall k, geometric beta (S k) <= rho -> 0 <= 1 - geometric beta k / rho.
Proof.
  intros k A. rewrite geometric_next in A. pose proof (late_nonneg k).
  assert (geometric beta k / rho <= 1); [|lra]. apply (Rmult_le_reg_r rho); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Theorem lifted_k_seq_taken : forall k x, geometric beta k <= rho ->
  taken (lifted_k_seq_rates V rho t q k) x + lifted_k_seq_left V rho t q k x = t x.
Proof.
  intros [|k] x A; [simpl; ring|]. unfold lifted_k_seq_rates, lifted_k_seq_left. rewrite taken_in_turn, excess_min, minimum_Rmin.
  change (Real.add (Real.mul (geometric (total kept) k) (kept x)) (Rmin (t_last V rho t q k x) (q_last V rho t q k x)))
    with (geometric beta k * kept x + Rmin (t_last V rho t q k x) (q_last V rho t q k x)).
  assert (L : t_last V rho t q k x = (1 - geometric beta k / rho) * t x) by reflexivity.
  assert (Q : q_last V rho t q k x = late beta k * q x) by reflexivity.
  pose proof (early_share k A) as E. pose proof (late_nonneg k) as N. pose proof (proj1 q_row x) as Q0. pose proof (t_nonneg x) as T.
  assert (S : late beta k * (q x * last_rate V rho t q k x) = Rmin (t_last V rho t q k x) (q_last V rho t q k x)).
  { unfold last_rate. rewrite Q, <- Rmult_assoc. apply share_mass; [rewrite L|]; apply Rmult_le_pos; auto. }
  rewrite S. set (m := Rmin (t_last V rho t q k x) (q_last V rho t q k x)). change (total kept) with beta.
  rewrite Rmin_right; [ring|].
  apply Rle_trans with (geometric beta k * (t x / rho) + t_last V rho t q k x).
  - apply Rplus_le_compat; [|unfold m; apply Rmin_l]. apply Rmult_le_compat_l; [apply geometric_nonneg|].
    rewrite kept_min. apply Rmin_l.
  - rewrite L. right. field. lra.
Qed.

Lemma k_seq_chances : forall k, chances (k_seq_rates rho t q k).
Proof. induction k as [|k IH]; [apply Forall_nil|]. apply Forall_cons; auto. intros. apply share_bounds; auto. Qed.

Lemma lifted_k_seq_chances : forall k, geometric beta k <= rho -> chances (lifted_k_seq_rates V rho t q k).
Proof.
  intros [|k] A; [apply Forall_nil|]. apply Forall_app. split; [apply k_seq_chances|]. apply Forall_cons; [|apply Forall_nil].
  intros x. apply share_bounds. change (t_last V rho t q k x) with ((1 - geometric beta k / rho) * t x).
  apply Rmult_le_pos; auto. apply early_share. auto.
Qed.

Lemma rates_length : forall k, length (k_seq_rates rho t q k) = k /\ length (lifted_k_seq_rates V rho t q k) = k.
Proof.
  intros k. assert (H : forall k, length (k_seq_rates rho t q k) = k) by (intros; apply repeat_length). split; auto.
  destruct k as [|k]; auto. unfold lifted_k_seq_rates. rewrite app_length, H. simpl. lia.
Qed.

End Plans.

(** ** The lift *)

Section Lifts.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).

(** What is chosen for rho, for so many children and the row that is given to them. *)
Variable rho : context -> nat -> row -> R.
Hypothesis rho_admitted : forall c k t, (forall x, 0 <= t x) ->
  0 < rho c k t /\ geometric (beta V (q c) (rho c k t) t) k <= rho c k t.

Definition siblings (c : context) (k : nat) : program (list token) := draw_each (repeat (q c) k).

Definition lifted (rates : R -> row -> row -> nat -> list row) (left : R -> row -> row -> nat -> row) (s : shape) (c : context) :
    program (option stop) :=
  let masses c k t drawn := in_turn (rates (rho c k t) t (q c) k) drawn 1 in
  let rest c k t := left (rho c k t) t (q c) k in
  bind (draw_at siblings s c (draw_below siblings s c)) (fun d => lift_at V p masses rest s c 1 d (lift V p masses rest s c d)).

Lemma plan_lossless : forall rates left, (forall c k t, (forall x, 0 <= t x) ->
    let r := rho c k t in
    length (rates r t (q c) k) = k /\ chances (rates r t (q c) k) /\ (forall x, 0 <= left r t (q c) k x) /\
    forall x, taken V (q c) (rates r t (q c) k) x + left r t (q c) k x = t x) ->
  forall s c, lossless_if V p c (lifted rates left s c).
Proof.
  intros rates left H s c. apply (lift_lossless V p p_rows siblings).
  - clear c. intros c k. apply (proper_weaken V _ _ _ _ (draw_each_proper V _ (alike V (q c) (q_rows c) k))). intros drawn [L K]. rewrite repeat_length in L. split; auto. lia.
  - clear c. intros c k t drawn T. apply in_turn_masses; [apply H; auto|lra].
  - clear c. intros c k t x T. apply H. auto.
  - clear c. intros c k t x T _ I. destruct (H c k t T) as [L [_ [_ M]]]. unfold siblings.
    rewrite <- L at 1. rewrite (in_turn_given V (q c) (q_rows c) x I), Rmult_1_l. apply M.
Qed.

Theorem lifted_k_seq_lossless : forall s c, lossless_if V p c (lifted (lifted_k_seq_rates V) (lifted_k_seq_left V) s c).
Proof.
  apply plan_lossless. intros c k t T. destruct (rho_admitted c k t T) as [P A]. cbv zeta.
  split; [apply rates_length|]. split; [apply lifted_k_seq_chances; auto|]. split.
  - intros x. destruct k as [|k]; [apply T|]. apply excess_nonneg.
  - intros x. apply lifted_k_seq_taken; auto.
Qed.

(** With the rates of K-SEQ itself. *)
Theorem k_seq_lift_lossless : forall s c, lossless_if V p c (lifted k_seq_rates (k_seq_left V) s c).
Proof.
  apply plan_lossless. intros c k t T. destruct (rho_admitted c k t T) as [P A]. cbv zeta.
  split; [apply (rates_length V)|]. split; [apply k_seq_chances; auto|]. split; [intros; apply excess_nonneg|].
  intros x. apply k_seq_taken; auto.
Qed.

End Lifts.
