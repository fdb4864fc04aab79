(** One iteration of greedy block verification (sun2025block, Appendix).

    A block that stops leaves a modified target to the iterations that follow, and blocks may stop while such a
    target is in force.  The statement that the induction carries, for a context with the joint probabilities P
    under the target and Q under the proposal: of the mass Q with which the context is drafted, (Q - P)+ is
    rejected, and what is emitted lacks (P - Q)+, followed by the modified target, of what the target would emit. *)

Require Import Reals Lra Lia List Arith Bool.
Require Import Programs Numbers Means Lossless Chains BlockOptimal.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section GreedyBlock.
Variable V : nat.
Variable q : context -> row.
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation draw_chain := (draw_chain q).
Notation modified := (modified V q).
Notation carry := (carry V q).
Notation greedy_below := (greedy_below V q).
Notation greedy_iteration := (greedy_iteration V q).

(** ** Rows that the text can get to *)

Lemma joint_nonneg : forall t u c, (forall c x, 0 <= t c x) -> 0 <= joint t u c.
Proof. intros t. induction u as [|x u IH]; simpl; intros c N; [lra|]. apply Rmult_le_pos; auto. Qed.

Lemma joint_app : forall t u v c, joint t (u ++ v) c = joint t u c * joint t v (c ++ u).
Proof.
  intros t. induction u as [|x u IH]; simpl; intros v c; [rewrite app_nil_r; lra|].
  rewrite IH, <- app_assoc. simpl. lra.
Qed.

(** The target has a row wherever its text from [c] can get. *)
Definition lawful (t : context -> row) (c : context) : Prop := forall e, 0 < joint t e c -> is_row V (t (c ++ e)).

Lemma lawful_row : forall t c, lawful t c -> is_row V (t c).
Proof. intros t c H. rewrite <- (app_nil_r c). apply H. simpl. lra. Qed.

Lemma lawful_app : forall t c u, lawful t c -> 0 < joint t u c -> lawful t (c ++ u).
Proof.
  intros t c u H P e Q. rewrite <- app_assoc. apply H. rewrite joint_app. apply Rmult_lt_0_compat; auto.
Qed.

(** What follows depends on the rows that follow. *)
Lemma reach_ext : forall t t' u d c, (forall e, t' (c ++ d ++ e) = t (c ++ d ++ e)) -> reach t' u d c = reach t u d c.
Proof.
  intros t t'. induction u as [|x u IH]; simpl; auto. intros [|y d] c E.
  - pose proof (E []) as E0. simpl in E0. rewrite app_nil_r in E0. rewrite E0. f_equal.
    apply IH. intros e. rewrite <- app_assoc. apply (E (x :: e)).
  - destruct (Nat.eqb_spec x y) as [->|]; auto. apply IH. intros e. rewrite <- app_assoc. apply (E e).
Qed.

(** ** One iteration from [start], whose target may be one that was carried to it *)

Section Iteration.
Variable t : context -> row.
Variable start : context.
Variable depth : nat.
Hypothesis t_nonneg : forall c x, 0 <= t c x.
Hypothesis t_lawful : lawful t start.
Variable u : context.
Hypothesis u_known : forall x, In x u -> In x (vocabulary V).

Definition next : context -> row := modified t (length start) (length start + depth).
Definition P (e : context) : R := joint t e start.
Definition Q (e : context) : R := joint q e start.
Definition want (e : context) : row := scale (P e) (t (start ++ e)).
Definition have (e : context) : row := scale (Q e) (q (start ++ e)).

Lemma P_nonneg : forall e, 0 <= P e.
Proof. intros. apply joint_nonneg. auto. Qed.

Lemma Q_nonneg : forall e, 0 <= Q e.
Proof. intros. apply joint_nonneg. intros. apply q_rows. Qed.

Lemma want_next : forall e x, want e x = P (e ++ [x]).
Proof. intros. unfold P. rewrite joint_snoc. reflexivity. Qed.

Lemma have_next : forall e x, have e x = Q (e ++ [x]).
Proof. intros. unfold Q. rewrite joint_snoc. reflexivity. Qed.

Lemma inside : forall e, e <> [] -> (length e < depth)%nat ->
  next (start ++ e) = normalise (excess (want e) (have e)).
Proof.
  intros e E L. unfold next, RealPrograms.modified. rewrite app_length.
  assert (N : length e <> 0%nat) by (destruct e; simpl; congruence).
  replace (length start <? length start + length e)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
  replace (length start + length e <? length start + depth)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
  simpl. rewrite skipn_app, firstn_app, skipn_all, firstn_all, Nat.sub_diag. simpl. rewrite app_nil_r. reflexivity.
Qed.

Lemma beyond : forall c, (length start + depth <= length c)%nat -> next c = t c.
Proof.
  intros c L. unfold next, RealPrograms.modified.
  replace (length c <? length start + depth)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
  rewrite andb_false_r. reflexivity.
Qed.

Lemma reach_beyond : forall c, (length start + depth <= length c)%nat -> reach next u c [] = reach t u c [].
Proof. intros c L. apply reach_ext. intros e. apply beyond. rewrite !app_length. simpl. lia. Qed.

(** The carried target is [next], as far as it matters. *)
Lemma carried : forall e y, (length e < depth)%nat ->
  reach (carry t depth start (start ++ e)) u ((start ++ e) ++ [y]) [] = reach next u ((start ++ e) ++ [y]) [].
Proof.
  intros e y L. unfold RealPrograms.carry.
  destruct (Nat.ltb_spec (length (start ++ e) + 1) (length start + depth)); auto.
  symmetry. apply reach_beyond. rewrite app_length. simpl. lia.
Qed.

Lemma mass_difference : forall e, total (excess (want e) (have e)) - total (excess (have e) (want e)) = P e - Q e.
Proof.
  intros e. rewrite excess_difference. unfold want, have, scale. rewrite !total_mul.
  destruct (q_rows (start ++ e)) as [_ ->].
  destruct (Rle_lt_or_eq_dec _ _ (P_nonneg e)) as [L|Z]; [|rewrite <- Z; lra].
  destruct (t_lawful e L) as [_ ->]. lra.
Qed.

(** What a stop is worth to the word [u]. *)
Definition worth (found : option stop) : R :=
  match found with
  | Some (d, r) => total (fun y => r y * reach (carry t depth start d) u (d ++ [y]) [])
  | None => 0
  end.

Definition greedy_from (n : nat) (c : context) (a b : R) : program (option stop) :=
  bind (draw_chain n c) (fun path => greedy_below t path c a b).

(** What is tried at a node when all below it is rejected. *)
Definition own (e : context) : program (option stop) :=
  Accept (share (total (excess (want e) (have e))) (total (excess (have e) (want e)))) (fun accepted =>
    Return (if accepted then Some (start ++ e, normalise (excess (want e) (have e))) else None)).

Lemma first_token : forall n e f,
  mean (greedy_from (S n) (start ++ e) (P e) (Q e)) f =
  total (fun x => q (start ++ e) x *
    mean (greedy_from n (start ++ e ++ [x]) (P (e ++ [x])) (Q (e ++ [x])))
      (fun found => match found with Some s => f (Some s) | None => mean (own e) f end)).
Proof.
  intros n e f. unfold greedy_from. rewrite mean_bind. simpl. apply total_ext. intros x. f_equal.
  rewrite !mean_bind, <- app_assoc. apply mean_ext. intros path.
  rewrite <- want_next, <- have_next. simpl. rewrite mean_bind, <- app_assoc. apply mean_ext. intros [s|]; reflexivity.
Qed.

Theorem mass_and_worth : forall n e, (length e + n = depth)%nat ->
  Q e * mean (greedy_from n (start ++ e) (P e) (Q e)) rejected = positive (Q e - P e) /\
  Q e * mean (greedy_from n (start ++ e) (P e) (Q e)) worth =
    P e * reach t u (start ++ e) [] - positive (P e - Q e) * reach next u (start ++ e) [].
Proof.
  induction n as [|n IH]; intros e L.
  - pose proof (P_nonneg e) as HP. pose proof (Q_nonneg e) as HQ. pose proof (share_mass (P e) (Q e) HP HQ) as M.
    unfold greedy_from. simpl. rewrite !positive_min. split.
    + rewrite (Rmin_comm (Q e)). lra.
    + rewrite reach_beyond by (rewrite app_length; lia).
      unfold RealPrograms.carry. replace (length (start ++ e) + 1 <? length start + depth)%nat with false
        by (symmetry; apply Nat.ltb_ge; rewrite app_length; lia).
      rewrite Rmult_0_r, Rplus_0_r, <- Rmult_assoc, M.
      destruct (Rle_lt_or_eq_dec _ _ HP) as [G|Z].
      * rewrite (reach_step V t u u_known (start ++ e) []) by (apply t_lawful; auto). simpl. lra.
      * rewrite <- Z. replace (Rmin 0 (Q e)) with 0 by (symmetry; apply Rmin_left; lra). lra.
  - set (D := total (excess (want e) (have e))). set (D' := total (excess (have e) (want e))).
    set (r := excess (want e) (have e)) in *.
    assert (Dn : 0 <= D) by (apply total_nonneg; intros; apply excess_nonneg).
    assert (Dn' : 0 <= D') by (apply total_nonneg; intros; apply excess_nonneg).
    pose proof (mass_difference e) as DD. fold r in DD. fold D in DD. fold D' in DD.
    pose proof (share_mass D D' Dn Dn') as M.
    assert (X : forall x, Q (e ++ [x]) = Q e * q (start ++ e) x) by (intros; unfold Q; apply joint_snoc).
    (* what the children reject *)
    assert (J : Q e * total (fun x => q (start ++ e) x *
                  mean (greedy_from n (start ++ e ++ [x]) (P (e ++ [x])) (Q (e ++ [x]))) rejected) = D').
    { rewrite <- total_mul. apply total_ext. intros x. rewrite <- Rmult_assoc, <- X.
      destruct (IH (e ++ [x])) as [F _]; [rewrite app_length; simpl; lia|]. rewrite F, <- want_next, <- have_next. reflexivity. }
    split.
    + rewrite first_token.
      rewrite (total_ext V _ (fun x => (q (start ++ e) x *
        mean (greedy_from n (start ++ e ++ [x]) (P (e ++ [x])) (Q (e ++ [x]))) rejected) * mean (own e) rejected)).
      2: { intros x. rewrite split_rejected. ring. }
      rewrite total_mul_right, <- Rmult_assoc, J. unfold own. simpl. fold r D D'.
      replace (Q e - P e) with (D' - D) by lra. rewrite positive_min, (Rmin_comm D' D). lra.
    + (* what follows when this node is the stop *)
      set (N := total (fun y => normalise r y * reach next u ((start ++ e) ++ [y]) [])).
      assert (O : mean (own e) worth = share D D' * N).
      { unfold own. simpl. fold r D D'. rewrite Rmult_0_r, Rplus_0_r. f_equal. apply total_ext. intros y.
        rewrite carried by lia. auto. }
      assert (W : D * N = total (fun y => r y * reach next u ((start ++ e) ++ [y]) [])).
      { unfold N. rewrite <- total_mul. apply total_ext_in. intros y I. rewrite <- Rmult_assoc. f_equal.
        destruct (Rle_lt_or_eq_dec _ _ Dn) as [G|Z]; [apply normalise_total; auto|].
        rewrite <- Z. rewrite (total_zero V r (fun x => excess_nonneg _ _ x) (eq_sym Z) y I). lra. }
      assert (K : P e * reach t u (start ++ e) [] = total (fun y => want e y * reach t u ((start ++ e) ++ [y]) [])).
      { destruct (Rle_lt_or_eq_dec _ _ (P_nonneg e)) as [G|Z].
        - rewrite (reach_step V t u u_known (start ++ e) []) by (apply t_lawful; auto). rewrite <- total_mul.
          apply total_ext. intros y. unfold want, scale. simpl. ring.
        - unfold want, scale. rewrite <- Z.
          rewrite (total_ext V _ (fun y => 0 * 0)) by (intros; simpl; ring). rewrite total_mul. ring. }
      assert (H : positive (P e - Q e) * reach next u (start ++ e) [] = positive (P e - Q e) * N).
      { destruct (Rlt_dec 0 (P e - Q e)) as [G|G].
        2: { unfold positive. simpl. destruct (Rlt_dec 0 (P e - Q e)); [contradiction|ring]. }
        f_equal. assert (e <> []) by (intros ->; unfold P, Q in G; simpl in G; lra).
        assert (E : next (start ++ e) = normalise r) by (apply inside; auto; lia).
        rewrite (reach_step V next u u_known (start ++ e) []); simpl; rewrite E; [reflexivity|].
        apply normalise_row; [intros; apply excess_nonneg|]. change (0 < D). lra. }
      rewrite first_token.
      rewrite (total_ext V _ (fun x =>
        q (start ++ e) x * mean (greedy_from n (start ++ e ++ [x]) (P (e ++ [x])) (Q (e ++ [x]))) worth +
        (q (start ++ e) x * mean (greedy_from n (start ++ e ++ [x]) (P (e ++ [x])) (Q (e ++ [x]))) rejected) *
          mean (own e) worth)).
      2: { intros x. rewrite (mean_ext V _ _ _ (fun found => worth found + mean (own e) worth * rejected found))
             by (intros [s|]; simpl; ring).
           rewrite mean_add, mean_mul. ring. }
      rewrite total_add, total_mul_right, Rmult_plus_distr_l, <- (Rmult_assoc (Q e) _ (mean (own e) worth)), J, O.
      rewrite <- total_mul.
      rewrite (total_ext V _ (fun x => want e x * reach t u ((start ++ e) ++ [x]) [] -
                                      r x * reach next u ((start ++ e) ++ [x]) [])).
      2: { intros x. rewrite <- Rmult_assoc, <- X.
           destruct (IH (e ++ [x])) as [_ F]; [rewrite app_length; simpl; lia|].
           rewrite F, <- want_next, <- have_next, <- app_assoc. reflexivity. }
      rewrite total_sub, <- K, <- W, H. replace (P e - Q e) with (D - D') by lra.
      rewrite positive_min, <- Rmult_assoc, M. ring.
Qed.

Theorem iteration_worth : mean (greedy_iteration t depth start) worth = reach t u start [].
Proof.
  destruct (mass_and_worth depth [] (eq_refl _)) as [_ W].
  rewrite app_nil_r in W. unfold P, Q in W. simpl in W. unfold greedy_from in W.
  unfold RealPrograms.greedy_iteration. simpl.
  replace (positive (1 - 1)) with 0 in W by (rewrite positive_min, Rmin_left; lra). lra.
Qed.

(** ** Where it stops, and what it leaves *)

Lemma next_nonneg : forall c x, 0 <= next c x.
Proof.
  intros c x. unfold next, RealPrograms.modified. destruct (_ && _); auto.
  apply normalise_nonneg. intros. apply excess_nonneg.
Qed.

Lemma carry_nonneg : forall d c x, 0 <= carry t depth start d c x.
Proof. intros d c x. unfold RealPrograms.carry. destruct (_ <? _)%nat; auto. apply next_nonneg. Qed.

Lemma next_lawful : forall e, lawful t (start ++ e) -> e <> [] -> (depth <= length e)%nat \/ Q e < P e ->
  lawful next (start ++ e).
Proof.
  intros e H E C f. revert e H E C. induction f as [|x f IH]; intros e H E C J.
  - rewrite app_nil_r. destruct (Nat.lt_ge_cases (length e) depth) as [L|L].
    + destruct C as [C|C]; [lia|]. rewrite inside by auto. apply normalise_row; [intros; apply excess_nonneg|].
      pose proof (mass_difference e).
      assert (0 <= total (excess (have e) (want e))) by (apply total_nonneg; intros; apply excess_nonneg). lra.
    + rewrite beyond by (rewrite app_length; lia). apply lawful_row. auto.
  - simpl in J. replace ((start ++ e) ++ x :: f) with ((start ++ e ++ [x]) ++ f) by (rewrite <- !app_assoc; auto).
    assert (J1 : 0 < next (start ++ e) x).
    { destruct (Rle_lt_or_eq_dec _ _ (next_nonneg (start ++ e) x)) as [|Z]; auto. rewrite <- Z in J. lra. }
    assert (J2 : 0 < joint next f ((start ++ e) ++ [x])).
    { apply Rmult_lt_reg_l with (next (start ++ e) x); auto. lra. }
    rewrite <- app_assoc in J2.
    assert (T : 0 < t (start ++ e) x /\ ((depth <= length (e ++ [x]))%nat \/ Q (e ++ [x]) < P (e ++ [x]))).
    { rewrite app_length. simpl. destruct (Nat.lt_ge_cases (length e) depth) as [L|L].
      - rewrite inside in J1 by auto. apply normalise_positive in J1; [|intros; apply excess_nonneg].
        assert (K : Q (e ++ [x]) < P (e ++ [x])).
        { rewrite <- want_next, <- have_next. unfold excess, positive in J1. simpl in J1.
          destruct (Rlt_dec 0 (want e x - have e x)); lra. }
        split; auto. pose proof (Q_nonneg (e ++ [x])). rewrite <- want_next in K. unfold want, scale in K. simpl in K.
        destruct (Rle_lt_or_eq_dec _ _ (t_nonneg (start ++ e) x)) as [|Z]; auto. rewrite <- Z in K. lra.
      - rewrite beyond in J1 by (rewrite app_length; lia). split; auto. left. lia. }
    destruct T as [T1 T2]. apply IH; auto.
    + rewrite app_assoc. apply lawful_app; auto. simpl. lra.
    + destruct e; discriminate.
Qed.

(** A stop whose extra token is drawn from a row, and after which the carried target has rows. *)
Definition good (s : stop) : Prop :=
  let (d, r) := s in (exists e, d = start ++ e) /\ is_row V r /\
    forall y, 0 < r y -> lawful (carry t depth start d) (d ++ [y]).

Lemma good_residual : forall e, (length e < depth)%nat -> 0 < total (excess (want e) (have e)) ->
  good (start ++ e, normalise (excess (want e) (have e))).
Proof.
  intros e L D. split; [exists e; auto|]. split; [apply normalise_row; auto; intros; apply excess_nonneg|].
  intros y J. apply normalise_positive in J; [|intros; apply excess_nonneg].
  assert (K : Q (e ++ [y]) < P (e ++ [y])).
  { rewrite <- want_next, <- have_next. unfold excess, positive in J. simpl in J.
    destruct (Rlt_dec 0 (want e y - have e y)); lra. }
  assert (A : lawful t (start ++ e ++ [y])).
  { apply lawful_app; auto. pose proof (Q_nonneg (e ++ [y])). unfold P in K. lra. }
  rewrite <- app_assoc. unfold RealPrograms.carry. destruct (_ <? _)%nat; auto.
  apply next_lawful; auto. destruct e; discriminate.
Qed.

Lemma below_proper : forall path e, (length e + length path = depth)%nat -> 0 < Q e ->
  possible V q true (as_children path) (start ++ e) (q (start ++ e)) ->
  proper V (greedy_below t path (start ++ e) (P e) (Q e))
    (fun found => match found with Some s => good s | None => P e < Q e end).
Proof.
  induction path as [|x path IH]; intros e L HQ D; cbn [RealPrograms.greedy_below].
  - simpl in L. split; [apply share_bounds, P_nonneg|]. split; intros K; simpl.
    + apply share_positive in K; auto; [|apply P_nonneg].
      split; [exists e; auto|]. split; [apply t_lawful; auto|]. intros y Y.
      unfold RealPrograms.carry. replace (length (start ++ e) + 1 <? length start + depth)%nat with false
        by (symmetry; apply Nat.ltb_ge; rewrite app_length; lia).
      apply lawful_app; [apply lawful_app; auto|]. simpl. lra.
    + apply share_below_one. auto.
  - simpl in D. destruct D as [I [G [B _]]]. simpl in L.
    apply (proper_bind V _ _ _ _ (fun found => match found with Some s => good s | None => want e x < have e x end)).
    + specialize (IH (e ++ [x])). rewrite app_assoc, <- want_next, <- have_next in IH. apply IH.
      * rewrite app_length. simpl. lia.
      * apply Rmult_lt_0_compat; auto.
      * auto.
    + intros [s|] F; simpl; auto.
      change (proper V (own e) (fun found => match found with Some s => good s | None => P e < Q e end)).
      assert (D' : 0 < total (excess (have e) (want e))).
      { assert (E : 0 < excess (have e) (want e) x).
        { unfold excess, positive. simpl. destruct (Rlt_dec 0 (have e x - want e x)); lra. }
        destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ (fun y => excess_nonneg (have e) (want e) y))) as [|Z]; auto.
        rewrite (total_zero V _ (fun y => excess_nonneg (have e) (want e) y) (eq_sym Z) x I) in E. lra. }
      assert (D : 0 <= total (excess (want e) (have e))) by (apply total_nonneg; intros; apply excess_nonneg).
      split; [apply share_bounds; auto|]. split; intros K; simpl.
      * apply share_positive in K; auto. apply good_residual; auto. lia.
      * apply share_below_one in K. pose proof (mass_difference e). lra.
Qed.

Theorem iteration_proper : proper V (greedy_iteration t depth start)
  (fun found => match found with Some s => good s | None => False end).
Proof.
  apply (proper_weaken V _ _ (fun found => match found with Some s => good s | None => P [] < Q [] end)).
  - apply (proper_bind V _ _ _ _ (fun path => length path = depth /\
      possible V q true (as_children path) start (q start))).
    + clear u u_known. generalize start as c. induction depth as [|n IH]; simpl; intros c; auto.
      split; [apply q_rows|]. intros x I G. apply (proper_bind V _ _ _ _ _ _ (IH (c ++ [x]))).
      intros path [L D]. simpl. auto.
    + intros path [L D]. pose proof (below_proper path []) as B. rewrite app_nil_r in B.
      apply B; simpl; auto. unfold Q. simpl. lra.
  - intros [s|] F; auto. unfold P, Q in F. simpl in F. lra.
Qed.

End Iteration.

End GreedyBlock.
