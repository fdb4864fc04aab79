(** Lemma 9 of zhou2026hsd: how many tokens of a given draft are accepted, from the coins of token verification, which
    goes forward, and of HSD and block verification, which step back from the end. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal Texts Hsd.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section HsdMeans.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).

(** How many tokens below [c] a stop has accepted. *)
Definition kept_tokens (c : context) (s : stop) : R := INR (length (fst s)) - INR (length c).
Definition kept_if (c : context) (found : option stop) : R := match found with Some s => kept_tokens c s | None => 0 end.

Lemma kept_deeper : forall c x s, kept_tokens c s = kept_tokens (c ++ [x]) s + 1.
Proof. intros. unfold kept_tokens. rewrite app_length, plus_INR. simpl. lra. Qed.

(** ** Forward *)

Fixpoint forward (path : list token) (c : context) : list R :=
  match path with [] => [] | x :: rest => share (p c x) (q c x) :: forward rest (c ++ [x]) end.

(** The sum over i of the products of the first i coins; [before] is the product of those before. *)
Fixpoint prefixes (before : R) (coins : list R) : R :=
  match coins with [] => 0 | h :: coins => before * h + prefixes (before * h) coins end.

Theorem token_means : forall path c, mean (token_verify V p q path c) (kept_tokens c) = prefixes 1 (forward path c).
Proof.
  assert (One : forall path c v, mean (token_verify V p q path c) (fun _ => v) = v).
  { induction path as [|x path IH]; intros c v; simpl; auto. rewrite IH. ring. }
  assert (H : forall path c a, a * mean (token_verify V p q path c) (kept_tokens c) = prefixes a (forward path c)).
  { induction path as [|x path IH]; intros c a.
    - simpl. unfold kept_tokens. simpl. ring.
    - cbn [token_verify forward prefixes]. rewrite <- IH. cbn [RealPrograms.mean]. set (h := share (p c x) (q c x)).
      rewrite (mean_ext V _ (token_verify V p q path (c ++ [x])) (kept_tokens c) (fun s => kept_tokens (c ++ [x]) s + 1))
        by (intros; apply kept_deeper).
      rewrite mean_add, One. unfold kept_tokens at 2. simpl. ring. }
  intros path c. rewrite <- H. ring.
Qed.

(** ** Backward *)

Fixpoint backward (path : list token) (c : context) (w : R) : list R :=
  match path with
  | [] => [w]
  | x :: rest =>
      let A := total (excess (scale w (p c)) (q c)) in
      share A (A + (1 - w)) :: backward rest (c ++ [x]) (share (w * p c x) (q c x))
  end.

(** No coin of them says yes. *)
Fixpoint none (coins : list R) : R := match coins with [] => 1 | h :: coins => (1 - h) * none coins end.

(** The sum over i of the chances that a coin at i or later says yes, the first one left out. *)
Fixpoint suffixes (coins : list R) : R := match coins with [] => 0 | h :: coins => 1 - none coins + suffixes coins end.

Theorem block_means : forall path c w,
  mean (block_below V p q path c w) (kept_if c) = suffixes (backward path c w) /\
  mean (block_below V p q path c w) rejected = none (backward path c w).
Proof.
  assert (One : forall path c w v, mean (block_below V p q path c w) (fun _ => v) = v).
  { induction path as [|x path IH]; intros c w v; simpl; [ring|].
    rewrite mean_bind, (mean_ext V _ _ _ (fun _ => v)); auto. intros [s|]; simpl; ring. }
  induction path as [|x path IH]; intros c w.
  - simpl. unfold kept_tokens. simpl. split; ring.
  - destruct (IH (c ++ [x]) (share (w * p c x) (q c x))) as [K N]. cbn [block_below backward none suffixes]. cbn zeta.
    rewrite <- K, <- N. clear K N. split.
    + rewrite mean_bind. set (m := block_below V p q path _ _).
      rewrite (mean_ext V _ _ _ (fun found => kept_if (c ++ [x]) found + (1 - rejected found))).
      * rewrite mean_add, mean_sub. replace (mean m (fun _ => 1)) with 1 by (symmetry; apply One). ring.
      * intros [s|].
        -- change (kept_tokens c s = kept_tokens (c ++ [x]) s + (1 - 0)). rewrite (kept_deeper c x s). ring.
        -- simpl. unfold kept_tokens. simpl. ring.
    + rewrite mean_bind. set (m := block_below V p q path _ _). rewrite <- mean_mul. apply mean_ext.
      intros [s|]; simpl; ring.
Qed.

Theorem hsd_means : forall path c, drafted q path c ->
  mean (hsd_verify V p q path c) (kept_if c) = suffixes (backward path c 1).
Proof.
  intros path c D. unfold hsd_verify. rewrite (hsd_is_block V p q p_rows q_rows path c 1 1) by (auto; lra).
  rewrite ratio_positive by lra. replace (1 / 1) with 1 by field. apply block_means.
Qed.

End HsdMeans.
