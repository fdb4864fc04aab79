(** Token and block verification, HSD and Traversal Verification, as Code.v has them from the Python, are fair: on a
    chain one more drafted token does not change, on average, what they emit.  So they can be used with every rule that
    ends a draft by the tokens before (Selection.v). *)

Require Import Reals Lra List Arith FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code Means Lossless Traversal RecursiveRejection Chains.
Require Import BlockOptimal Texts Hsd Selection CodeFacts CodeChains CodeTrees.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section CodeFair.
Variable V : nat.
Variables p q at_leaf : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation fair := (fair V p q).
Notation chained := (chained q at_leaf).

(** The means are those of a rule that is fair. *)
Lemma fair_ext : forall c (verify other : list token -> program (option stop)), fair c other ->
  (forall path G, mean (verify path) (emitted_if V G) = mean (other path) (emitted_if V G)) ->
  (forall path, mean (verify path) stopped = mean (other path) stopped) -> fair c verify.
Proof.
  intros c verify other [F [S0 S1]] E S. split.
  - intros G HG. destruct (F G HG) as [F0 F1]. split; [rewrite E; auto|].
    intros path. rewrite E, F1. apply total_ext. intros x. rewrite E. auto.
  - split; [rewrite S; auto|]. intros path. rewrite S, S1. apply total_ext. intros x. rewrite S. auto.
Qed.

(** A rule that never rejects makes no use of what comes then. *)
Lemma or_else_fair : forall c (verify other : list token -> program (option stop)), fair c verify ->
  (forall path, mean (verify path) rejected = 0) -> fair c (fun path => or_else (verify path) (other path)).
Proof.
  intros c verify other F N. apply (fair_ext c _ verify F).
  - intros path G. unfold or_else. rewrite or_else_emitted, N. ring.
  - intros path. unfold or_else. rewrite mean_bind.
    assert (K : forall found : option stop, mean match found with Some s => Return (Some s) | None => other path end stopped =
      stopped found + rejected found * mean (other path) stopped) by (intros [s|]; simpl; ring).
    rewrite (mean_ext V _ _ _ _ K), mean_add.
    rewrite (mean_ext V _ _ (fun found => rejected found * _) (fun found => mean (other path) stopped * rejected found))
      by (intros; ring).
    rewrite mean_mul, N. ring.
Qed.

Theorem token_code_fair : forall fuel c, fair c (fun path => shown (token.verify V (fuel path) (chained path c) p)).
Proof.
  intros fuel c. apply (fair_ext c _ _ (token_fair V p q p_rows q_rows c)); intros; rewrite token_code; auto.
Qed.

Lemma share_itself : forall a, share a a = 1.
Proof. intros a. unfold share. simpl. destruct (Rlt_dec a a); [lra|auto]. Qed.

Lemma block_stops : forall path c, mean (block_verify V p q path c) rejected = 0.
Proof.
  intros [|x path] c; unfold block_verify; simpl; [ring|]. rewrite or_else_rejected. simpl.
  set (A := RealPrograms.total V _). replace (A + (1 - 1)) with A by ring. rewrite share_itself. ring.
Qed.

Theorem block_code_fair : forall fuel c, fair c (fun path => shown (block.verify V (fuel path) (chained path c) p)).
Proof.
  intros fuel c. apply (fair_ext c _ (fun path => or_else (block_verify V p q path c) (beyond V (block_residual p q) path c 1)));
    [|intros; rewrite block_code; auto|intros; rewrite block_code; auto].
  apply or_else_fair; [apply block_fair; auto|intros; apply block_stops].
Qed.

Theorem traversal_code_fair : forall c,
  fair c (fun path => shown (traversal.verify V (size (as_children path)) (chained path c) p)).
Proof.
  intros c. apply (fair_ext c _ _ (block_fair V p q p_rows q_rows c)).
  - intros path G. change (chained path c) with (CodeFacts.drafted q at_leaf false (as_children path) c).
    rewrite traversal_code, block_is_traversal by auto. reflexivity.
  - intros path. change (chained path c) with (CodeFacts.drafted q at_leaf false (as_children path) c).
    rewrite traversal_code, block_is_traversal by auto. reflexivity.
Qed.

(** HSD is block verification on what can be drafted; what cannot be has no weight. *)
Lemma hsd_steady : forall G, harmonic V p G -> forall path c R peak, 0 <= R <= peak -> 0 < peak ->
  mean (hsd_below V p q path c R peak) (emitted_if V G) =
    total (fun x => q (c ++ path) x * mean (hsd_below V p q (path ++ [x]) c R peak) (emitted_if V G)) /\
  mean (hsd_below V p q path c R peak) rejected =
    total (fun x => q (c ++ path) x * mean (hsd_below V p q (path ++ [x]) c R peak) rejected).
Proof.
  intros G HG. induction path as [|y path IH]; intros c R peak B P.
  - rewrite app_nil_r.
    assert (U : 0 <= ratio R peak <= 1).
    { rewrite ratio_positive by auto. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; auto]|].
      apply Rmult_le_reg_r with peak; auto. replace (R / peak * peak) with R by (field; lra). lra. }
    assert (E : forall f, total (fun x => q c x * mean (hsd_below V p q ([] ++ [x]) c R peak) f) =
                          mean (subtree V p q true (chain q 1 c) c (ratio R peak) (p c) (q c)) f).
    { intros f. rewrite <- block_from_subtree. unfold block_from. rewrite mean_bind. simpl RealPrograms.mean at 2.
      apply total_ext. intros x. destruct (Rle_lt_or_eq_dec _ _ (proj1 (q_rows c) x)) as [L|Z]; [|rewrite <- Z; ring].
      f_equal. apply hsd_is_block; auto. simpl. auto. }
    destruct (subtree_stops V p q true p_rows G HG c (q c) _ (chain_sampled V q q_rows true 1 c) (ratio R peak) (p c)) as [S1 S2];
      [split; [auto|right; apply p_rows]|].
    rewrite !E, S1, S2. simpl. split; [|ring]. rewrite Rmult_0_r, Rplus_0_r, <- total_mul. apply total_ext. intros; ring.
  - assert (M : 0 <= ratio (p c y) (q c y)).
    { unfold ratio. simpl. destruct (Rlt_dec 0 (q c y)) as [L|L]; [|lra].
      apply Rmult_le_pos; [apply p_rows|left; apply Rinv_0_lt_compat; auto]. }
    assert (N : 0 <= R * ratio (p c y) (q c y)) by (apply Rmult_le_pos; lra).
    destruct (IH (c ++ [y]) (R * ratio (p c y) (q c y)) (maximum peak (R * ratio (p c y) (q c y)))) as [K1 K2].
    { rewrite maximum_Rmax. split; [auto|apply Rmax_r]. }
    { rewrite maximum_Rmax. apply Rlt_le_trans with peak; [auto|apply Rmax_l]. }
    rewrite <- app_assoc in K1, K2. simpl in K1, K2. cbn [app hsd_below]. cbn zeta. set (own := Accept _ _).
    rewrite or_else_emitted, or_else_rejected, K1, K2, <- total_mul, <- total_add, <- total_mul.
    split; apply total_ext; intros x; [rewrite or_else_emitted|rewrite or_else_rejected]; ring.
Qed.

Lemma hsd_stops : forall path c, mean (hsd_verify V p q path c) rejected = 0.
Proof.
  assert (One : ratio 1 1 = 1) by (rewrite ratio_positive by lra; field).
  intros [|x path] c; unfold hsd_verify; cbn [hsd_below]; cbn zeta; rewrite ?or_else_rejected; simpl; rewrite !One; [ring|].
  rewrite same_coin by auto. set (A := RealPrograms.total V _). match goal with |- context [share A ?w] => replace w with A by (simpl; ring) end.
  rewrite share_itself. ring.
Qed.

Lemma hsd_fair : forall c, fair c (fun path => hsd_verify V p q path c).
Proof.
  assert (One : ratio 1 1 = 1) by (rewrite ratio_positive by lra; field).
  assert (T : forall path c R peak, mean (hsd_below V p q path c R peak) (fun _ => 1) = 1).
  { induction path as [|x path IH]; intros c R peak; simpl; [ring|].
    rewrite mean_bind, (mean_ext V _ _ _ (fun _ => 1)); auto. intros [s|]; simpl; ring. }
  assert (S : forall path c, mean (hsd_verify V p q path c) stopped = 1).
  { intros path c. rewrite (mean_ext V _ _ _ (fun found => 1 - rejected found)) by (intros [s|]; simpl; lra).
    rewrite mean_sub, hsd_stops. unfold hsd_verify. rewrite T. lra. }
  intros c. split.
  - intros G HG. split; [unfold hsd_verify; simpl; rewrite One, (HG c); ring|].
    intros path. apply hsd_steady; auto; lra.
  - split; intros; rewrite S; auto. rewrite (total_ext V _ (fun x => q (c ++ path) x)) by (intros; rewrite S; lra).
    symmetry. apply q_rows.
Qed.

Theorem hsd_code_fair : forall fuel c, fair c (fun path => shown (hsd.verify V (fuel path) (chained path c) p)).
Proof.
  intros fuel c. apply (fair_ext c _ (fun path => or_else (hsd_verify V p q path c) (beyond V (hsd_residual p q) path c (1, 1))));
    [|intros; rewrite hsd_code; auto|intros; rewrite hsd_code; auto].
  apply or_else_fair; [apply hsd_fair|intros; apply hsd_stops].
Qed.

End CodeFair.
