(** Token verification (leviathan2023fast) and block verification (sun2025block, Algorithm 2) are lossless.

    A chain is a tree of one child a node.  On it token verification is recursive rejection, and block
    verification is Traversal Verification. *)

Require Import Reals Lra List.
Require Import Programs Numbers Means Lossless RecursiveRejection Traversal.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Chains.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation draw_chain := (draw_chain q).

Fixpoint chain (depth : nat) : shape :=
  match depth with 0%nat => NoShape | S less => Shape (chain less) NoShape end.

Fixpoint as_children (path : list token) : children :=
  match path with [] => NoChild | x :: rest => Child x (as_children rest) NoChild end.

Lemma mean_draw_chain : forall replacement depth c f,
  mean (draw V q replacement (chain depth) c (q c)) f = mean (draw_chain depth c) (fun path => f (as_children path)).
Proof.
  induction depth as [|less IH]; intros c f; simpl; auto.
  assert (S : total (q c) = 1) by apply q_rows.
  destruct (Rlt_dec 0 (total (q c))) as [L|L]; [|lra]. simpl. apply total_ext. intros x. f_equal.
  rewrite !mean_bind, IH. apply mean_ext. intros path. reflexivity.
Qed.

Lemma token_is_recursive_rejection : forall replacement path c f,
  mean (recursive_rejection V p q replacement (as_children path) c (p c) (q c)) f =
  mean (token_verify V p q path c) f.
Proof. induction path as [|x rest IH]; intros c f; simpl; auto. rewrite IH. auto. Qed.

Lemma block_is_traversal : forall replacement path c w,
  traverse V p q replacement (as_children path) c w (p c) (q c) = block_below V p q path c w.
Proof. induction path as [|x rest IH]; intros c w; simpl; auto. rewrite IH. auto. Qed.

Theorem token_lossless : forall depth c, lossless V p c (token_iteration V p q depth c).
Proof.
  intros depth c G HG.
  rewrite <- (recursive_rejection_lossless V p q true p_rows q_rows (chain depth) c G HG).
  unfold token_iteration, recursive_rejection_iteration. rewrite !mean_bind, mean_draw_chain.
  apply mean_ext. intros path. rewrite token_is_recursive_rejection. auto.
Qed.

(** Block verification entered with rate [w]. *)
Definition block_from (depth : nat) (c : context) (w : R) : program (option stop) :=
  bind (draw_chain depth c) (fun path => block_below V p q path c w).

Lemma block_from_subtree : forall depth c w f,
  mean (block_from depth c w) f = mean (subtree V p q true (chain depth) c w (p c) (q c)) f.
Proof.
  intros. unfold block_from, subtree. rewrite !mean_bind, mean_draw_chain.
  apply mean_ext. intros path. rewrite block_is_traversal. auto.
Qed.

Theorem block_lossless : forall depth c, lossless_if V p c (block_iteration V p q depth c).
Proof.
  intros depth c. destruct (traversal_lossless V p q true p_rows q_rows (chain depth) c) as [L R].
  change (block_iteration V p q depth c) with (block_from depth c 1).
  split; [intros G HG; rewrite <- (L G HG)|rewrite <- R]; apply block_from_subtree.
Qed.

(** Given the tokens down to [c], the draft is accepted at or below [c] with probability w. *)
Theorem block_accepts : forall depth c w, 0 <= w <= 1 -> mean (block_from depth c w) rejected = 1 - w.
Proof.
  intros depth c w W. rewrite block_from_subtree.
  assert (HG : harmonic V p (fun _ => 1)).
  { intros d. destruct (p_rows d) as [_ S]. rewrite <- S at 1. apply total_ext. intros; lra. }
  apply (subtree_stops V p q true p_rows q_rows (chain depth) _ HG).
  - split; [auto|right; apply p_rows].
  - apply q_law, q_rows.
Qed.

End Chains.
