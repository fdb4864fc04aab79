(** Block verification accepts as much as any lossless rule on a chain can, prefix by prefix.

    A rule is any program that sees the drafted path and stops somewhere on it.  If one iteration of it is
    lossless, the probability that [u] is drafted and accepted is at most that of drafting [u], times w. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means Lossless Traversal Chains.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section BlockOptimal.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation draw_chain := (draw_chain q).

(** w after the drafted tokens [u], from w at [c]. *)
Fixpoint weight (u : list token) (c : context) (w : R) : R :=
  match u with [] => w | x :: u => weight u (c ++ [x]) (share (w * p c x) (q c x)) end.

(** The probability that the draft from [c] begins with [u]. *)
Notation drafted := (joint q).

(** Whether [d] begins with [u], as a number. *)
Fixpoint begins (u d : list token) : R :=
  match u, d with
  | [], _ => 1
  | _ :: _, [] => 0
  | x :: u, y :: d => if (x =? y)%nat then begins u d else 0
  end.

(** The tokens [u] after [c] were accepted. *)
Definition accepts (c : context) (u : list token) (s : stop) : R := begins (c ++ u) (fst s).
Definition accepts_if (c : context) (u : list token) (found : option stop) : R :=
  match found with Some s => accepts c u s | None => 0 end.

(** ** Words *)

Lemma begins_range : forall u d, 0 <= begins u d <= 1.
Proof. induction u as [|x u IH]; destruct d as [|y d]; simpl; try lra. destruct (x =? y)%nat; [auto|lra]. Qed.

Lemma begins_app : forall c u d, begins (c ++ u) (c ++ d) = begins u d.
Proof. induction c as [|x c IH]; simpl; auto. intros. rewrite Nat.eqb_refl. auto. Qed.

Lemma reach_app : forall k u d c, reach p (k ++ u) (k ++ d) c = reach p u d (c ++ k).
Proof.
  induction k as [|x k IH]; simpl; intros u d c; [rewrite app_nil_r; auto|].
  rewrite Nat.eqb_refl, IH, <- app_assoc. auto.
Qed.

Lemma reach_from : forall c u, reach p (c ++ u) c [] = reach p u [] c.
Proof. intros. rewrite <- (app_nil_r c) at 2. apply (reach_app c u [] []). Qed.

Lemma reach_snoc : forall u x c, reach p (u ++ [x]) [] c = reach p u [] c * p (c ++ u) x.
Proof.
  induction u as [|y u IH]; simpl; intros x c.
  - rewrite app_nil_r. lra.
  - rewrite IH, <- app_assoc. simpl. lra.
Qed.

Lemma joint_snoc : forall (rows : context -> row) u x c, joint rows (u ++ [x]) c = joint rows u c * rows (c ++ u) x.
Proof.
  intros rows. induction u as [|y u IH]; simpl; intros x c.
  - rewrite app_nil_r. lra.
  - rewrite IH, <- app_assoc. simpl. lra.
Qed.

Lemma weight_snoc : forall u x c w,
  weight (u ++ [x]) c w = share (weight u c w * p (c ++ u) x) (q (c ++ u) x).
Proof.
  induction u as [|y u IH]; simpl; intros x c w.
  - rewrite app_nil_r. auto.
  - rewrite IH, <- app_assoc. auto.
Qed.

Lemma weight_nonneg : forall u c w, 0 <= w <= 1 -> 0 <= weight u c w <= 1.
Proof.
  induction u as [|x u IH]; simpl; intros c w W; auto. apply IH, share_bounds.
  apply Rmult_le_pos; [lra|apply p_rows].
Qed.

(** What a stop at [d] with the row [r] is worth to the word [u ++ [x]], beside what it is worth to [u]. *)
Lemma one_token_more : forall u x, In x (vocabulary V) -> forall d r, is_row V r -> forall c,
  begins (u ++ [x]) d - p (c ++ u) x * begins u d <=
  total (fun y => r y * reach p (u ++ [x]) (d ++ [y]) c) - p (c ++ u) x * total (fun y => r y * reach p u (d ++ [y]) c).
Proof.
  induction u as [|z u IH]; intros x I d r R c.
  - rewrite app_nil_r. simpl. destruct R as [N S].
    assert (T : total (fun y => r y * 1) = 1)
      by (rewrite total_mul_right, S; lra).
    rewrite T. destruct d as [|y d]; simpl.
    + rewrite (total_single V r x 1 I). specialize (N x). lra.
    + destruct (x =? y)%nat; [rewrite T; lra|].
      rewrite (total_ext V (fun z => r z * 0) (fun z => 0 * 0)) by (intros; lra). rewrite total_mul. lra.
  - destruct d as [|y d]; simpl.
    + rewrite Rmult_0_r.
      rewrite (total_ext V _ (fun y => p (c ++ z :: u) x * (r y * (if (z =? y)%nat then reach p u [] (c ++ [z]) else 0)))).
      * rewrite total_mul. lra.
      * intros y. destruct (z =? y)%nat; [|lra]. rewrite reach_snoc, <- app_assoc. simpl. lra.
    + destruct (z =? y)%nat.
      * specialize (IH x I d r R (c ++ [z])). rewrite <- app_assoc in IH. exact IH.
      * rewrite (total_ext V _ (fun z => 0 * 0)) by (intros; lra). rewrite total_mul. lra.
Qed.

(** ** The bound *)

Section Rule.
Variable c : context.
Hypothesis c_known : forall x, In x c -> In x (vocabulary V).
Variable depth : nat.
Variable rule : list token -> program stop.

(** Stops lie on the drafted path; the extra token is drawn from a row. *)
Definition on_path (path : list token) (s : stop) : Prop :=
  (exists k, fst s = c ++ firstn k path) /\ is_row V (snd s).

Hypothesis rule_proper : forall path, proper V (rule path) (on_path path).
Definition iteration : program stop := bind (draw_chain depth c) rule.
Hypothesis rule_lossless : lossless V p c iteration.

Lemma chain_proper : forall n d, proper V (draw_chain n d) (fun _ => True).
Proof.
  induction n as [|n IH]; simpl; intros d; [auto|]. split; [apply q_rows|]. intros x _ _.
  apply (proper_bind V _ _ _ _ (fun _ => True)); simpl; auto.
Qed.

Lemma mean_begins : forall n u d, (length u <= n)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (draw_chain n d) (begins u) = drafted u d.
Proof.
  induction n as [|n IH]; intros [|x u] d L U.
  - reflexivity.
  - inversion L.
  - apply (mean_one V _ _ _ (chain_proper (S n) d)).
  - simpl in *. rewrite <- (IH u (d ++ [x])) by (auto; apply le_S_n; auto).
    rewrite <- (total_single V (q d) x) by auto. apply total_ext. intros y. f_equal.
    rewrite mean_bind. simpl. destruct (Nat.eqb_spec x y) as [->|D]; auto.
    rewrite (mean_ext V _ _ _ (fun a => 0 * 0)) by (intros; lra). rewrite mean_mul. lra.
Qed.

Lemma begins_firstn : forall u k path, begins u (firstn k path) <= begins u path.
Proof.
  induction u as [|x u IH]; intros [|k] [|y path]; simpl; try lra.
  - destruct (x =? y)%nat; [|lra]. apply begins_range.
  - destruct (x =? y)%nat; [auto|lra].
Qed.

Theorem no_rule_accepts_more : forall u, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean iteration (accepts c u) <= drafted u c * weight u c 1.
Proof.
  assert (D : forall u, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
    mean iteration (accepts c u) <= drafted u c).
  { intros u L U. rewrite <- (mean_begins depth u c L U). unfold iteration. rewrite mean_bind.
    apply (mean_le V _ _ (fun _ => True)); [apply chain_proper|]. intros path _.
    apply Rle_trans with (mean (rule path) (fun _ => begins u path)).
    - apply (mean_le V _ _ (on_path path)); auto. intros s [[k E] _]. unfold accepts. rewrite E, begins_app.
      apply begins_firstn.
    - rewrite (mean_ext V _ _ _ (fun s => begins u path * 1)) by (intros; lra). rewrite mean_mul.
      rewrite (mean_one V _ _ _ (rule_proper path)). lra. }
  induction u as [|x v IH] using rev_ind; intros L U.
  - specialize (D [] L U). simpl in *. lra.
  - assert (Lv : (length v <= depth)%nat) by (rewrite app_length in L; simpl in L; apply Nat.le_trans with (length v + 1)%nat; auto; apply Nat.le_add_r).
    assert (Uv : forall y, In y v -> In y (vocabulary V)) by (intros; apply U, in_or_app; auto).
    assert (Ix : In x (vocabulary V)) by (apply U, in_or_app; simpl; auto).
    specialize (IH Lv Uv).
    (* one token more has at most the target's probability *)
    assert (P : mean iteration (accepts c (v ++ [x])) <= p (c ++ v) x * mean iteration (accepts c v)).
    { assert (Hv : forall y, In y (c ++ v) -> In y (vocabulary V))
        by (intros y I; apply in_app_or in I; destruct I; auto).
      assert (Hu : forall y, In y ((c ++ v) ++ [x]) -> In y (vocabulary V))
        by (intros y I; apply in_app_or in I; destruct I as [I|[<-|[]]]; auto).
      pose proof (rule_lossless _ (reach_harmonic V p p_rows _ Hv)) as Ev.
      pose proof (rule_lossless _ (reach_harmonic V p p_rows _ Hu)) as Eu. simpl in Ev, Eu.
      rewrite <- app_assoc in Eu.
      rewrite reach_from in Ev, Eu. rewrite reach_snoc, <- Ev in Eu.
      assert (M : mean iteration (fun s => accepts c (v ++ [x]) s - p (c ++ v) x * accepts c v s) <=
                  mean iteration (fun s => emitted V (fun d => reach p (c ++ v ++ [x]) d []) s -
                                           p (c ++ v) x * emitted V (fun d => reach p (c ++ v) d []) s)).
      { apply (mean_le V _ _ (fun s => is_row V (snd s))).
        - apply (proper_bind V _ _ _ _ (fun _ => True)); [apply chain_proper|]. intros path _.
          apply (proper_weaken V _ _ (on_path path)); auto. intros s [_ R]. exact R.
        - intros [d r] R. unfold accepts, emitted. simpl. rewrite app_assoc.
          apply (one_token_more (c ++ v) x Ix d r R []). }
      rewrite !mean_sub, !mean_mul in M. rewrite Eu in M. lra. }
    rewrite joint_snoc, weight_snoc.
    pose proof (D (v ++ [x]) L U) as B. rewrite joint_snoc in B.
    assert (W : 0 <= weight v c 1 <= 1) by (apply weight_nonneg; lra).
    assert (N : 0 <= p (c ++ v) x) by apply p_rows. assert (Q : 0 <= q (c ++ v) x) by apply q_rows.
    rewrite Rmult_assoc, share_mass by (auto; apply Rmult_le_pos; lra).
    unfold Rmin. destruct (Rle_dec (weight v c 1 * p (c ++ v) x) (q (c ++ v) x)); auto.
    apply Rle_trans with (1 := P). apply Rle_trans with (p (c ++ v) x * (drafted v c * weight v c 1)).
    + apply Rmult_le_compat_l; auto.
    + lra.
Qed.
End Rule.

(** ** Block verification reaches it *)

Lemma begins_longer : forall c x u, begins (c ++ x :: u) c = 0.
Proof. induction c as [|y c IH]; simpl; auto. intros. rewrite Nat.eqb_refl. auto. Qed.

Lemma entered_target : forall w c, 0 <= w <= 1 -> entered V w (p c).
Proof. intros. split; [auto|right; apply p_rows]. Qed.

(** The first drafted token, then the rest of the path, then the node above it. *)
Lemma first_token : forall depth c w f,
  mean (block_from V p q (S depth) c w) f =
  total (fun x => q c x *
    mean (block_from V p q depth (c ++ [x]) (share (w * p c x) (q c x)))
      (fun found => match found with
                    | Some s => f (Some s)
                    | None => mean (Accept (next_rate V w (p c) (q c)) (fun accepted => Return
                                (if accepted then Some (c, next_row V w (p c) (q c)) else None))) f
                    end)).
Proof.
  intros. unfold block_from. rewrite mean_bind. simpl. apply total_ext. intros x. f_equal.
  rewrite !mean_bind. apply mean_ext. intros path. simpl. rewrite mean_bind. apply mean_ext. intros [s|]; auto.
Qed.

Theorem block_accepts_most : forall depth u c w, (length u <= depth)%nat ->
  (forall x, In x u -> In x (vocabulary V)) -> 0 <= w <= 1 ->
  mean (block_from V p q depth c w) (accepts_if c u) = drafted u c * weight u c w.
Proof.
  assert (Empty : forall depth c w, 0 <= w <= 1 -> mean (block_from V p q depth c w) (accepts_if c []) = w).
  { intros depth c w W.
    pose proof (block_accepts V p q p_rows q_rows depth c w W) as J. rewrite block_from_subtree in * by auto.
    assert (X : proper V (subtree V p q true (chain q depth c) c w (p c) (q c))
      (fun found => match found with Some s => stops_below V c s | None => w < 1 end))
      by (apply subtree_proper; auto; [apply chain_possible; auto|apply q_law, q_rows|apply entered_target; auto]).
    rewrite (mean_ext_proper V _ _ _ (accepts_if c []) (fun found => 1 - rejected found) X).
    - rewrite mean_sub, J, (mean_one V _ _ _ X). lra.
    - intros [[d r]|] F; simpl; [|lra]. destruct F as [[e E] _]. unfold accepts. simpl in *.
      rewrite E, begins_app. simpl. lra. }
  induction depth as [|depth IH]; intros [|x u] c w L U W; try (rewrite Empty by auto; simpl; lra).
  - inversion L.
  - rewrite first_token. simpl. specialize (IH u (c ++ [x]) (share (w * p c x) (q c x))).
    assert (B : 0 <= share (w * p c x) (q c x) <= 1)
      by (apply share_bounds, Rmult_le_pos; [lra|apply p_rows]).
    rewrite Rmult_assoc, <- IH; auto;
      [|apply le_S_n; auto|intros y I; apply U; simpl; auto].
    rewrite <- (total_single V (q c) x) by (apply U; simpl; auto). apply total_ext. intros y. f_equal.
    assert (C : 0 <= share (w * p c y) (q c y) <= 1)
      by (apply share_bounds, Rmult_le_pos; [lra|apply p_rows]).
    destruct (Nat.eqb_spec x y) as [->|D].
    + rewrite !block_from_subtree by auto.
      apply (mean_ext_proper V _ _ (fun found =>
        match found with Some s => stops_below V (c ++ [y]) s | None => share (w * p c y) (q c y) < 1 end)).
      * apply subtree_proper; auto; [apply chain_possible; auto|apply q_law, q_rows|apply entered_target; auto].
      * intros [s|] F; simpl.
        -- unfold accepts. rewrite <- app_assoc. auto.
        -- unfold accepts. simpl. rewrite begins_longer. lra.
    + rewrite block_from_subtree by auto.
      rewrite (mean_ext_proper V _ _ (fun found =>
        match found with Some s => stops_below V (c ++ [y]) s | None => share (w * p c y) (q c y) < 1 end)
        _ (fun _ => 0 * 0)).
      * rewrite mean_mul. lra.
      * apply subtree_proper; auto; [apply chain_possible; auto|apply q_law, q_rows|apply entered_target; auto].
      * intros [s|] F; simpl.
        -- destruct F as [[e E] _]. unfold accepts. rewrite E, <- app_assoc, begins_app. simpl.
           destruct (Nat.eqb_spec x y); [contradiction|lra].
        -- unfold accepts. simpl. rewrite begins_longer. lra.
Qed.

End BlockOptimal.
