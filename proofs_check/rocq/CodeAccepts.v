(** How often drafted tokens are kept, by the verifiers that Code.v has from the Python. *)

Require Import Reals Lra Lia List Arith FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code Means Lossless Traversal RecursiveRejection Chains.
Require Import BlockOptimal Texts GreedyBlock GreedyAccepts Hsd CodeFacts CodeChains CodeTrees CodeLossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section CodeAccepts.
Variable V : nat.
Variables p q at_leaf : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation mean := (mean V).
Notation run_code := (run_code p q at_leaf).

(** The product of min(p, q) over the tokens [u] after [c]. *)
Fixpoint both (u : list token) (c : context) : R :=
  match u with [] => 1 | x :: u => Rmin (p c x) (q c x) * both u (c ++ [x]) end.

Lemma token_accepts : forall depth u c, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (token_iteration V p q depth c) (accepts c u) = both u c.
Proof.
  induction depth as [|depth IH]; intros [|x u] c L U; try (inversion L; fail).
  1, 2: rewrite (mean_ext_proper V _ _ _ _ (fun _ => 1) (token_proper V p q p_rows q_rows _ c));
    [apply (mean_one V _ _ _ (token_proper V p q p_rows q_rows _ c))|];
    intros s [[e E] _]; unfold accepts; rewrite E, begins_app; reflexivity.
  unfold token_iteration. simpl. rewrite <- (IH u (c ++ [x])) by (simpl in L; auto with arith; intros; apply U; simpl; auto).
  rewrite <- (share_mass (p c x) (q c x)), Rmult_assoc by (apply p_rows || apply q_rows).
  rewrite <- (total_single V (q c) x) by (apply U; simpl; auto). apply total_ext. intros y. f_equal.
  rewrite !mean_bind.
  rewrite (mean_ext V _ _ _ (fun path => share (p c y) (q c y) * mean (token_verify V p q path (c ++ [y])) (accepts c (x :: u)))).
  - rewrite mean_mul, <- mean_bind. change (bind _ _) with (token_iteration V p q depth (c ++ [y])).
    destruct (Nat.eqb_spec x y) as [->|D].
    + f_equal. apply mean_ext. intros s. unfold accepts. rewrite <- app_assoc. auto.
    + rewrite (mean_ext_proper V _ _ _ _ (fun _ => 0 * 0) (token_proper V p q p_rows q_rows _ (c ++ [y]))).
      * rewrite mean_mul. lra.
      * intros s [[e E] _]. unfold accepts. rewrite E, <- app_assoc, begins_app. simpl.
        destruct (Nat.eqb_spec x y); [contradiction|lra].
  - intros path. simpl. unfold accepts at 2. simpl. rewrite begins_longer. lra.
Qed.

Theorem token_code_accepts : forall depth u c, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (run_code (token.verify V) false (chain q depth c) c) (accepts_if c u) = both u c.
Proof.
  intros depth u c L U. rewrite <- (token_accepts depth u c L U), code_chain. unfold token_iteration.
  rewrite !mean_bind. apply mean_ext. intros path. rewrite token_code. unfold always_stops. rewrite mean_bind. reflexivity.
Qed.

(** Where a rule always stops, what it does where none is kept has probability zero. *)
Lemma or_else_accepts : forall depth c (rule other : list token -> program (option stop)) f,
  proper V (bind (draw_chain q depth c) rule) (fun found => match found with Some s => stops_below V c s | None => False end) ->
  mean (bind (draw_chain q depth c) (fun path => or_else (rule path) (other path))) f =
  mean (bind (draw_chain q depth c) rule) f.
Proof. intros. apply (or_else_mean V _ _ _ _ (stops_below V c)). auto. Qed.

Theorem block_code_accepts : forall depth u c, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (run_code (block.verify V) false (chain q depth c) c) (accepts_if c u) = joint q u c * weight p q u c 1.
Proof.
  intros depth u c L U. rewrite <- (block_accepts_most V p q p_rows q_rows depth u c 1 L U) by lra. rewrite code_chain.
  rewrite (f_equal (bind (draw_chain q depth c)) (functional_extensionality _ _ (fun path => block_code V p q at_leaf _ path c))).
  apply or_else_accepts, block_proper; auto.
Qed.

Theorem hsd_code_accepts : forall depth u c, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (run_code (hsd.verify V) false (chain q depth c) c) (accepts_if c u) = joint q u c * weight p q u c 1.
Proof.
  intros depth u c L U. rewrite <- (hsd_accepts_most V p q p_rows q_rows depth u c L U), code_chain.
  rewrite (f_equal (bind (draw_chain q depth c)) (functional_extensionality _ _ (fun path => hsd_code V p q at_leaf _ path c))).
  apply or_else_accepts, hsd_proper; auto.
Qed.

(** On a chain Traversal Verification stops as block verification does, with the same rows. *)
Theorem traversal_code_accepts : forall replacement depth u c, (length u <= depth)%nat ->
  (forall x, In x u -> In x (vocabulary V)) ->
  mean (run_code (traversal.verify V) replacement (chain q depth c) c) (accepts_if c u) = joint q u c * weight p q u c 1.
Proof.
  intros replacement depth u c L U. rewrite <- (block_accepts_most V p q p_rows q_rows depth u c 1 L U) by lra.
  rewrite (code_tree p q at_leaf _ _ _ _ _ (fun d => traversal_code V p q at_leaf replacement _ d c (le_n _))).
  unfold chain, block_from. rewrite !mean_bind. apply mean_ext. intros path. simpl.
  rewrite block_is_traversal. reflexivity.
Qed.

(** Greedy block verification, in its first call. *)
Theorem greedy_code_accepts : forall depth u, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (greedy_code_iteration V q at_leaf p depth []) (accepts_if [] u) = Rmin (joint p u []) (joint q u []).
Proof.
  intros depth u L U. assert (N : forall c x, 0 <= p c x) by (intros; apply p_rows).
  assert (H : lawful V p []) by (intros e _; apply p_rows).
  rewrite <- (greedy_accepts V q q_rows p [] depth N H u L U), greedy_code_from.
  apply (or_else_mean V _ _ _ _ (good V q p [] depth)). apply iteration_proper; auto.
Qed.

End CodeAccepts.
