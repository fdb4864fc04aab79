(** Greedy block verification drafts and accepts every prefix with the smaller one of its two probabilities, the
    most that any rule can in one iteration. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless BlockOptimal GreedyBlock.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section GreedyAccepts.
Variable V : nat.
Variable q : context -> row.
Hypothesis q_rows : forall c, is_row V (q c).
Variable t : context -> row.
Variable start : context.
Variable depth : nat.
Hypothesis t_nonneg : forall c x, 0 <= t c x.
Hypothesis t_lawful : lawful V t start.
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation draw_chain := (draw_chain q).
Notation greedy_below := (greedy_below V q).
Notation greedy_iteration := (greedy_iteration V q).
Notation greedy_from := (greedy_from V q t).
Notation P := (P t start).
Notation Q := (Q q start).

(** Stops lie on the path. *)
Lemma below_ext : forall path c a b (f g : option stop -> R), (forall k r, f (Some (c ++ k, r)) = g (Some (c ++ k, r))) ->
  f None = g None -> mean (greedy_below t path c a b) f = mean (greedy_below t path c a b) g.
Proof.
  induction path as [|x path IH]; intros c a b f g E E0; simpl; rewrite ?mean_bind.
  - specialize (E [] (t c)). rewrite app_nil_r in E. apply (f_equal2 Rplus); apply (f_equal2 Rmult); first [exact E | exact E0 | reflexivity].
  - apply IH.
    + intros k r. simpl. rewrite <- app_assoc. apply E.
    + set (r := excess _ _). set (h := share _ _). specialize (E [] (normalise r)). rewrite app_nil_r in E.
      simpl. apply (f_equal2 Rplus); apply (f_equal2 Rmult); first [exact E | exact E0 | reflexivity].
Qed.

Lemma from_ext : forall n c a b (f g : option stop -> R), (forall k r, f (Some (c ++ k, r)) = g (Some (c ++ k, r))) ->
  f None = g None -> mean (greedy_from n c a b) f = mean (greedy_from n c a b) g.
Proof. intros. unfold greedy_from. rewrite !mean_bind. apply mean_ext. intros. apply below_ext; auto. Qed.

Lemma from_one : forall n c a b, mean (greedy_from n c a b) (fun _ => 1) = 1.
Proof.
  assert (B : forall path c a b, mean (greedy_below t path c a b) (fun _ => 1) = 1).
  { induction path as [|x path IH]; intros c a b; simpl; [lra|]. rewrite mean_bind.
    rewrite (mean_ext V _ _ _ (fun _ => 1)); auto. intros [s|]; simpl; auto. lra. }
  intros n c a b. unfold greedy_from. rewrite mean_bind, (mean_ext V _ _ _ (fun _ => 1)) by auto.
  apply (mean_one V _ _ _ (chain_proper V q q_rows n c)).
Qed.

Lemma from_accepts : forall n v e, (length e + n = depth)%nat -> (length v <= n)%nat ->
  (forall x, In x v -> In x (vocabulary V)) ->
  Q e * mean (greedy_from n (start ++ e) (P e) (Q e)) (accepts_if (start ++ e) v) = Rmin (P (e ++ v)) (Q (e ++ v)).
Proof.
  assert (Empty : forall n e, (length e + n = depth)%nat ->
    Q e * mean (greedy_from n (start ++ e) (P e) (Q e)) (accepts_if (start ++ e) []) = Rmin (P e) (Q e)).
  { intros n e L. destruct (mass_and_worth V q q_rows t start depth t_nonneg t_lawful [] (fun x none => False_ind _ none) n e L) as [M _].
    rewrite (from_ext n _ _ _ _ (fun found => 1 - rejected found)).
    - rewrite mean_sub, from_one, Rmult_minus_distr_l, M, positive_min, (Rmin_comm (P e)). lra.
    - intros k r. simpl. unfold accepts. simpl. rewrite begins_app. simpl. lra.
    - simpl. lra. }
  induction n as [|n IH]; intros [|x v] e L Lv U; try (rewrite app_nil_r; apply Empty; auto); [inversion Lv|].
  rewrite first_token. replace (e ++ x :: v) with ((e ++ [x]) ++ v) by (rewrite <- app_assoc; auto).
  rewrite <- IH; [|rewrite app_length; simpl; lia|simpl in Lv; lia|intros; apply U; simpl; auto].
  replace (Q (e ++ [x])) with (Q e * q (start ++ e) x) by (symmetry; unfold Q; apply joint_snoc).
  rewrite Rmult_assoc. f_equal. rewrite <- (total_single V (q (start ++ e)) x) by (apply U; simpl; auto).
  apply total_ext. intros y. f_equal. destruct (Nat.eqb_spec x y) as [->|D].
  - replace (Q e * q (start ++ e) y) with (Q (e ++ [y])) by (unfold Q; apply joint_snoc).
    apply from_ext.
    + intros k r. simpl. unfold accepts. rewrite <- !app_assoc. auto.
    + simpl. unfold accepts. simpl. rewrite begins_longer. lra.
  - rewrite (from_ext n _ _ _ _ (fun _ => 0 * 1)).
    + rewrite mean_mul, from_one. lra.
    + intros k r. simpl. unfold accepts. simpl. rewrite <- !app_assoc, app_assoc, (app_assoc start e), begins_app. simpl.
      destruct (Nat.eqb_spec x y); [contradiction|lra].
    + simpl. unfold accepts. simpl. rewrite begins_longer. lra.
Qed.

(** A prefix is drafted and accepted with the smaller one of its two probabilities. *)
Theorem greedy_accepts : forall v, (length v <= depth)%nat -> (forall x, In x v -> In x (vocabulary V)) ->
  mean (greedy_iteration t depth start) (accepts_if start v) = Rmin (joint t v start) (joint q v start).
Proof.
  intros v L U. pose proof (from_accepts depth v [] (eq_refl _) L U) as A. rewrite app_nil_r in A.
  unfold P, Q in A. simpl in A. unfold greedy_from in A. unfold RealPrograms.greedy_iteration. simpl. lra.
Qed.

End GreedyAccepts.
