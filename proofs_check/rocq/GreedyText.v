(** Greedy block verification is lossless over any number of iterations, with the targets that it carries on. *)

Require Import Reals Lra Lia List.
Require Import Programs Numbers Means Lossless BlockOptimal GreedyBlock.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section GreedyText.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation greedy_text := (greedy_text V q).

Lemma begins_reach : forall t u c, (length u <= length c)%nat -> begins u c = reach t u c [].
Proof.
  intros t u c. generalize (@nil token) as k. revert c. induction u as [|x u IH]; intros [|y c] k L; simpl in *; auto; [lia|].
  destruct (x =? y)%nat; auto. apply IH. lia.
Qed.

Theorem text_follows : forall depth iterations t c u, (forall c x, 0 <= t c x) -> lawful V t c ->
  (length u <= length c + iterations)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (greedy_text iterations depth t c) (begins u) = reach t u c [].
Proof.
  intros depth. induction iterations as [|fewer IH]; intros t c u N H L U.
  - simpl. apply begins_reach. lia.
  - rewrite <- (iteration_worth V q q_rows t c depth N H u U). simpl. rewrite mean_bind.
    apply (mean_ext_proper V _ _ _ _ _ (iteration_proper V q q_rows t c depth N H)).
    intros [[d r]|] G; [|contradiction]. destruct G as [[e ->] [R G]]. simpl. apply total_ext. intros y.
    destruct (Rle_lt_or_eq_dec _ _ (proj1 R y)) as [P|Z]; [|rewrite <- Z; lra].
    rewrite IH; auto.
    + intros. apply carry_nonneg; auto.
    + rewrite !app_length. simpl. lia.
Qed.

(** After so many iterations that it has the tokens, the text begins with the word [u] as often as the target's. *)
Theorem greedy_lossless : forall depth iterations u, (length u <= iterations)%nat ->
  (forall x, In x u -> In x (vocabulary V)) ->
  mean (greedy_text iterations depth p []) (begins u) = joint p u [].
Proof.
  intros depth iterations u L U. rewrite text_follows; auto.
  - assert (E : forall c, reach p u [] c = joint p u c); [|apply E].
    clear L U. induction u as [|x u IH]; simpl; auto. intros c. rewrite IH. auto.
  - intros. apply p_rows.
  - intros e _. apply p_rows.
Qed.

(** Every coin is a probability, every row a law, and every iteration adds a token. *)
Theorem greedy_proper : forall depth iterations t c, (forall c x, 0 <= t c x) -> lawful V t c ->
  proper V (greedy_text iterations depth t c) (fun text => (length c + iterations <= length text)%nat).
Proof.
  intros depth. induction iterations as [|fewer IH]; intros t c N H; simpl; [lia|].
  apply (proper_bind V _ _ _ _ _ _ (iteration_proper V q q_rows t c depth N H)).
  intros [[d r]|] G; [|contradiction]. destruct G as [[e ->] [R G]]. simpl. split; auto. intros y _ P.
  apply (proper_weaken V _ _ (fun text => (length ((c ++ e) ++ [y]) + fewer <= length text)%nat)).
  - apply IH; auto. intros. apply carry_nonneg; auto.
  - intros text T. rewrite !app_length in T. simpl in T. lia.
Qed.

End GreedyText.
