(** What can be accepted at most in one iteration on a chain, and what token and block verification accept.

    With the law of the block kept, no rule has more E[tau] than block verification, whatever it looks at off the
    path (sun2025block, Theorem 2; thomas2026multipath).  With the law of the text kept, none accepts a prefix with
    more than the smaller of its two probabilities, which greedy block verification reaches. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal Texts Hsd.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Bounds.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation words := (words V).
Notation known := (known V).

(** ** Word by word *)

(** What token verification keeps of the drafted tokens [u] after [c]. *)
Fixpoint product (u : list token) (c : context) : R :=
  match u with [] => 1 | x :: u => share (p c x) (q c x) * product u (c ++ [x]) end.

Lemma product_range : forall u c, 0 <= product u c <= 1.
Proof.
  induction u as [|x u IH]; intros c; simpl; [lra|]. pose proof (share_bounds (p c x) (q c x) (proj1 (p_rows c) x)) as B.
  pose proof (IH (c ++ [x])) as I. split; [apply Rmult_le_pos; lra|].
  apply Rle_trans with (1 * 1); [apply Rmult_le_compat; lra|lra].
Qed.

Lemma share_scaled : forall w a b, 0 <= w <= 1 -> 0 <= a -> w * share a b <= share (w * a) b.
Proof.
  intros w a b W A. assert (K : w * a <= a) by (rewrite <- (Rmult_1_l a) at 2; apply Rmult_le_compat_r; lra).
  assert (N : 0 <= w * a) by (apply Rmult_le_pos; lra).
  unfold share. simpl. destruct (Rlt_dec a b) as [L|L], (Rlt_dec (w * a) b) as [M|M].
  - apply Req_le. unfold Rdiv. ring.
  - lra.
  - rewrite Rmult_1_r. apply Rmult_le_reg_r with b; [lra|]. replace (w * a / b * b) with (w * a) by (field; lra).
    apply Rmult_le_compat_l; lra.
  - lra.
Qed.

Lemma weight_grows : forall u c v w, 0 <= v <= w -> w <= 1 -> weight p q u c v <= weight p q u c w.
Proof.
  assert (Mono : forall a b y, 0 <= a <= b -> share a y <= share b y).
  { intros a b y H. unfold share. simpl. destruct (Rlt_dec a y) as [L|L], (Rlt_dec b y) as [M|M]; try lra.
    - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat|]; lra.
    - apply Rmult_le_reg_r with y; [lra|]. replace (a / y * y) with a by (field; lra). lra. }
  induction u as [|x u IH]; intros c v w B W; simpl; [lra|]. pose proof (proj1 (p_rows c) x) as N.
  apply IH.
  - split; [apply share_bounds, Rmult_le_pos; lra|]. apply Mono. split; [apply Rmult_le_pos; lra|apply Rmult_le_compat_r; lra].
  - apply share_bounds, Rmult_le_pos; lra.
Qed.

(** Block verification keeps every prefix with no less than token verification does, the first token with as much. *)
Theorem block_keeps_more_than_token : forall u c,
  product u c <= weight p q u c 1 /\ (forall x, u = [x] -> product u c = weight p q u c 1).
Proof.
  assert (H : forall u c w, 0 <= w <= 1 -> w * product u c <= weight p q u c w).
  { induction u as [|x u IH]; intros c w W; simpl; [lra|]. pose proof (proj1 (p_rows c) x) as N.
    pose proof (share_bounds (p c x) (q c x) N) as B. pose proof (share_scaled w (p c x) (q c x) W N) as S.
    assert (T : 0 <= w * share (p c x) (q c x)) by (apply Rmult_le_pos; lra).
    pose proof (share_bounds (w * p c x) (q c x) ltac:(apply Rmult_le_pos; lra)) as D.
    apply Rle_trans with (w * share (p c x) (q c x) * product u (c ++ [x])); [lra|].
    apply Rle_trans with (1 := IH (c ++ [x]) (w * share (p c x) (q c x)) ltac:(lra)). apply weight_grows; lra. }
  intros u c. split; [pose proof (H u c 1); lra|]. intros x ->. simpl. rewrite Rmult_1_l, Rmult_1_r. auto.
Qed.

(** It keeps no prefix with more than the smaller of its two probabilities. *)
Theorem block_keeps_less_than_both : forall u c w, 0 <= w <= 1 ->
  joint q u c * weight p q u c w <= Rmin (w * joint p u c) (joint q u c).
Proof.
  assert (N : forall rows, (forall c, is_row V (rows c)) -> forall u c, 0 <= joint rows u c).
  { intros rows H. induction u as [|x u IH]; intros c; simpl; [lra|]. apply Rmult_le_pos; auto. apply H. }
  intros u c w W. apply Rmin_glb.
  - revert c w W. induction u as [|x u IH]; intros c w W; simpl; [lra|].
    pose proof (proj1 (p_rows c) x) as P. pose proof (proj1 (q_rows c) x) as Q.
    set (v := share (w * p c x) (q c x)). assert (V' : 0 <= v <= 1) by (apply share_bounds, Rmult_le_pos; lra).
    apply Rle_trans with (q c x * (v * joint p u (c ++ [x]))).
    + rewrite Rmult_assoc. apply Rmult_le_compat_l; auto.
    + rewrite <- Rmult_assoc. unfold v. rewrite share_mass by (auto; apply Rmult_le_pos; lra).
      rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply N; auto|]. apply Rmin_l.
  - pose proof (weight_nonneg V p q p_rows u c w W) as B. rewrite <- (Rmult_1_r (joint q u c)) at 2.
    apply Rmult_le_compat_l; [apply N; auto|lra].
Qed.

(** ** How many tokens are accepted *)

(** Of a stop below [c]: one for each word of at most [n] tokens that it begins with. *)
Fixpoint accepted (n : nat) (c : context) (s : stop) : R :=
  match n with O => 0 | S m => accepted m c s + words n (fun u => accepts c u s) end.

Definition accepted_if (n : nat) (c : context) (found : option stop) : R :=
  match found with Some s => accepted n c s | None => 0 end.

Lemma words_begins : forall n e, known e -> words n (fun u => begins u e) = if (n <=? length e)%nat then 1 else 0.
Proof.
  induction n as [|n IH]; intros e K; [reflexivity|]. simpl. destruct e as [|y e].
  - rewrite (total_ext V _ (fun _ => 0 * 0)); [rewrite total_mul; simpl; lra|]. intros x.
    rewrite (words_ext V n _ (fun _ => 0 * 0)) by (intros; simpl; lra). rewrite words_mul. lra.
  - destruct (known_tail V y e K) as [I K']. simpl. rewrite <- (IH e K'), <- (Rmult_1_l (words n _)).
    rewrite <- (total_single V (fun _ => 1) y _ I). apply total_ext. intros x. rewrite (Nat.eqb_sym x y).
    destruct (y =? x)%nat; [lra|]. rewrite (words_ext V n _ (fun _ => 0 * 0)) by (intros; lra). rewrite words_mul. lra.
Qed.

(** That is how many tokens the stop has accepted. *)
Theorem accepted_length : forall n c e r, known e -> (length e <= n)%nat -> accepted n c (c ++ e, r) = INR (length e).
Proof.
  intros n c e r K L.
  assert (H : forall m, accepted m c (c ++ e, r) = INR (Nat.min m (length e))).
  { induction m as [|m IH]; [reflexivity|]. cbn [accepted]. rewrite IH.
    rewrite (words_ext V (S m) _ (fun u => begins u e)) by (intros; unfold accepts; apply begins_app).
    rewrite words_begins by auto. destruct (Nat.leb_spec (S m) (length e)).
    - replace (Nat.min (S m) (length e)) with (S (Nat.min m (length e))) by lia. rewrite S_INR. lra.
    - replace (Nat.min (S m) (length e)) with (Nat.min m (length e)) by lia. lra. }
  rewrite H. f_equal. lia.
Qed.

Section Rule.
Variable c : context.
Hypothesis c_known : known c.
Variable depth : nat.
Variable rule : list token -> program stop.
Hypothesis rule_proper : forall path, proper V (rule path) (on_path V c path).
Hypothesis rule_lossless : lossless V p c (iteration q c depth rule).

Theorem no_rule_expects_more :
  mean (iteration q c depth rule) (accepted depth c) <= mean (block_iteration V p q depth c) (accepted_if depth c).
Proof.
  assert (H : forall n, (n <= depth)%nat ->
    mean (iteration q c depth rule) (accepted n c) <= mean (block_iteration V p q depth c) (accepted_if n c)).
  { induction n as [|n IH]; intros L.
    - rewrite (mean_ext V _ _ (accepted 0 c) (fun _ => 0 * 0)) by (intros; simpl; lra).
      rewrite (mean_ext V _ _ (accepted_if 0 c) (fun _ => 0 * 0)) by (intros [s|]; simpl; lra). rewrite !mean_mul. lra.
    - change (mean (iteration q c depth rule) (fun s => accepted n c s + words (S n) (fun u => accepts c u s)) <=
              mean (block_iteration V p q depth c) (accepted_if (S n) c)).
      rewrite (mean_ext V _ _ (accepted_if (S n) c) (fun found => accepted_if n c found + words (S n) (fun u => accepts_if c u found))).
      + rewrite !mean_add, (mean_words V _ _ (S n) (fun u s => accepts c u s)), (mean_words V _ _ (S n) (fun u found => accepts_if c u found)).
        apply Rplus_le_compat; [apply IH; lia|]. apply words_le. intros u E K.
        change (mean (iteration q c depth rule) (accepts c u) <= mean (block_from V p q depth c 1) (accepts_if c u)).
        rewrite (block_accepts_most V p q p_rows q_rows depth u c 1); [|lia|auto|lra].
        apply (no_rule_accepts_more V p q p_rows q_rows c c_known depth rule rule_proper rule_lossless u); [lia|auto].
      + intros [s|]; [reflexivity|]. cbn [accepted_if accepts_if].
        rewrite (words_ext V (S n) _ (fun _ => 0 * 0)) by (intros; lra). rewrite words_mul. lra. }
  apply H. auto.
Qed.
End Rule.

(** ** Rules that leave something to later calls *)

Section Text.
Variable c : context.
Variable depth : nat.
Context {A : Type}.
Variable rule : list token -> program A.
Variables stopped text : A -> context.  (** where the first call stops, and the text that it and later calls emit *)
Hypothesis rule_proper : forall path, proper V (rule path) (fun a =>
  (exists k, stopped a = c ++ firstn k path) /\ exists e, text a = stopped a ++ e).

(** If the text begins with [u] as often as the target's, [u] is accepted with at most min(p, q). *)
Theorem nothing_accepts_more : forall u, (length u <= depth)%nat -> known u ->
  mean (bind (draw_chain q depth c) rule) (fun a => begins (c ++ u) (text a)) = joint p u c ->
  mean (bind (draw_chain q depth c) rule) (fun a => begins (c ++ u) (stopped a)) <= Rmin (joint p u c) (joint q u c).
Proof.
  intros u L K T. assert (C : proper V (draw_chain q depth c) (fun _ => True)) by (apply chain_proper; auto). apply Rmin_glb.
  - rewrite <- T. apply (mean_le V _ _ (fun a => exists e, text a = stopped a ++ e)).
    + apply (proper_bind V _ _ _ _ _ _ C). intros path _. apply (proper_weaken V _ _ _ _ (rule_proper path)). tauto.
    + intros a [e ->]. generalize (stopped a) as d. generalize (c ++ u) as v. clear. induction v as [|x v IH]; intros d; simpl; [lra|].
      destruct d as [|y d]; simpl; [|destruct (x =? y)%nat; [apply IH|lra]].
      destruct e as [|z e]; [lra|]. destruct (x =? z)%nat; [apply begins_range|lra].
  - rewrite <- (mean_begins V q q_rows depth u c L K), mean_bind. apply (mean_le V _ _ (fun _ => True)); auto. intros path _.
    apply Rle_trans with (mean (rule path) (fun _ => begins u path)).
    + apply (mean_le V _ _ _ _ _ (rule_proper path)). intros a [[k ->] _]. rewrite begins_app. apply begins_firstn.
    + rewrite (mean_const V _ _ _ _ (rule_proper path)). lra.
Qed.
End Text.

End Bounds.
