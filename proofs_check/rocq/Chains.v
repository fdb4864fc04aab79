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
Notation draw_kept := (draw_kept q).

(** A chain is drawn in order, also where it ends as soon as [keep] says so. *)
Lemma kept_sampled : forall replacement keep depth c,
  sampled V q (in_order V replacement) c (q c)
    (bind (draw_kept keep depth c) (fun path => Return (as_children path))).
Proof.
  induction depth as [|less IH]; simpl; intros c; [apply no_child|].
  destruct (keep c); simpl; [|apply no_child].
  apply (same_law V q _ c (q c) (Choose (q c) (fun x => bind (Return tt) (fun _ =>
    bind (bind (draw_kept keep less (c ++ [x])) (fun path => Return (as_children path)))
         (fun below => bind (Return NoChild) (fun rest => Return (Child x below rest))))))).
  - apply (first_child V q _ c (q c) unit (fun _ => Return tt) (fun _ _ => True)
      (fun x _ => bind (draw_kept keep less (c ++ [x])) (fun path => Return (as_children path)))
      (fun _ _ => Return NoChild) (fun x _ => after V replacement (q c) x)); simpl; auto.
    + intros; reflexivity.
    + intros. apply no_child.
  - intros f. simpl. apply total_ext. intros x. rewrite !mean_bind. auto.
Qed.

Definition chain (depth : nat) (c : context) : program children :=
  bind (draw_chain depth c) (fun path => Return (as_children path)).

Lemma chain_sampled : forall replacement depth c, sampled V q (in_order V replacement) c (q c) (chain depth c).
Proof. intros. exact (kept_sampled replacement (fun _ => true) depth c). Qed.

Lemma path_possible : forall replacement depth c,
  proper V (draw_chain depth c) (fun path => possible V q replacement (as_children path) c (q c)).
Proof.
  intros replacement. induction depth as [|less IH]; simpl; intros c; auto. split; [apply q_rows|]. intros x I P.
  apply (proper_bind V _ _ _ _ _ _ (IH (c ++ [x]))). intros path K. simpl. auto.
Qed.

Lemma chain_possible : forall replacement depth c,
  proper V (chain depth c) (fun siblings => possible V q replacement siblings c (q c)).
Proof. intros. apply (proper_bind V _ _ _ _ _ _ (path_possible replacement depth c)). auto. Qed.

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
  rewrite <- (recursive_rejection_lossless V p q true p_rows c _ (chain_sampled true depth c) G HG).
  unfold token_iteration, recursive_rejection_iteration, chain. rewrite !mean_bind.
  apply mean_ext. intros path. simpl. rewrite token_is_recursive_rejection. auto.
Qed.

(** Block verification entered with rate [w]. *)
Definition block_from (depth : nat) (c : context) (w : R) : program (option stop) :=
  bind (draw_chain depth c) (fun path => block_below V p q path c w).

Lemma block_from_subtree : forall depth c w f,
  mean (block_from depth c w) f = mean (subtree V p q true (chain depth c) c w (p c) (q c)) f.
Proof.
  intros. unfold block_from, subtree, chain. rewrite !mean_bind.
  apply mean_ext. intros path. simpl. rewrite block_is_traversal. auto.
Qed.

Theorem block_lossless : forall depth c, lossless_if V p c (block_iteration V p q depth c).
Proof.
  intros depth c.
  destruct (traversal_lossless V p q true p_rows c _ (chain_sampled true depth c)) as [L R].
  change (block_iteration V p q depth c) with (block_from depth c 1).
  split; [intros G HG; rewrite <- (L G HG)|rewrite <- R]; apply block_from_subtree.
Qed.

(** Given the tokens down to [c], the draft is accepted at or below [c] with probability w. *)
Theorem block_accepts : forall depth c w, 0 <= w <= 1 -> mean (block_from depth c w) rejected = 1 - w.
Proof.
  intros depth c w W. rewrite block_from_subtree.
  apply (subtree_stops V p q true p_rows _ (harmonic_one V p p_rows) c (q c) _ (chain_sampled true depth c)).
  split; [auto|right; apply p_rows].
Qed.

End Chains.
