(** The priority rule, node by node from the root down, is lossless on every tree. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Rules Numbers Means Lossless Lift Priority.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section PriorityNodes.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Variable laws : context -> nat -> list row.
Hypothesis laws_rows : forall c k, Forall (is_row V) (laws c k).
Hypothesis laws_count : forall c k, (length (laws c k) <= k)%nat.
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
Notation priority_node := (priority_node V p laws).
Notation kept_child := (kept_child V p laws).
Notation priority := (priority V p laws).
Notation siblings := (fun c k => draw_each (laws c k)).
Notation draw_at := (draw_at siblings).
Notation draw_below := (draw_below siblings).

(** ** The judging of one node *)

(** What the verdict is worth: v(j) if child j is kept, z if none is. *)
Definition verdict (v : nat -> R) (z : R) (kept : option nat) : R := match kept with Some j => v j | None => z end.

Definition unkept (steps : list (token * list R)) (drawn : list token) : R :=
  fold_right (fun step rest => none_at (fst step) (snd step) drawn * rest) 1 steps.

Lemma judge_token_value : forall g z x rates drawn j other v,
  (forall i, (i < length drawn)%nat -> v (j + i)%nat = g (nth i drawn 0%nat)) ->
  mean (judge_token x rates drawn j other) (verdict v z) =
  worth_at g x rates drawn + none_at x rates drawn * mean other (verdict v z).
Proof.
  intros g z x. induction rates as [|rate rates IH]; intros [|y drawn] j other v E; simpl; try ring.
  assert (E' : forall i, (i < length drawn)%nat -> v (S j + i)%nat = g (nth i drawn 0%nat)).
  { intros i L. replace (S j + i)%nat with (j + S i)%nat by lia. apply (E (S i)). simpl. lia. }
  destruct (Nat.eqb_spec x y) as [->|D]; simpl; rewrite (IH drawn (S j) other v E'); [|ring].
  pose proof (E 0%nat) as E0. rewrite Nat.add_0_r in E0. simpl in E0. rewrite E0 by lia. ring.
Qed.

Lemma judge_value : forall g z steps drawn v, (forall i, (i < length drawn)%nat -> v i = g (nth i drawn 0%nat)) ->
  mean (judge steps drawn) (verdict v z) = worth g steps drawn + unkept steps drawn * z.
Proof.
  intros g z steps drawn v E. induction steps as [|[x rates] steps IH]; simpl; [ring|].
  rewrite (judge_token_value g z x rates drawn 0 _ v E), IH. ring.
Qed.

Lemma worth_and_unkept : forall steps drawn, worth (fun _ => 1) steps drawn + unkept steps drawn = 1.
Proof.
  assert (A : forall x rates drawn, worth_at (fun _ => 1) x rates drawn + none_at x rates drawn = 1).
  { intros x. induction rates as [|rate rates IH]; intros [|y drawn]; simpl; try ring.
    pose proof (IH drawn). destruct (x =? y)%nat; [|lra].
    replace (worth_at (fun _ => 1) x rates drawn) with (1 - none_at x rates drawn) by lra. ring. }
  intros steps drawn. induction steps as [|[x rates] steps IH]; simpl; [ring|].
  pose proof (A x rates drawn). replace (worth (fun _ => 1) steps drawn) with (1 - unkept steps drawn) by lra. lra.
Qed.

(** ** Trees *)

Definition node_follows (s : shape) : Prop := forall G, harmonic V p G -> forall c,
  mean (bind (draw_at s c (draw_below s c)) (fun d => priority s d c)) (emitted V G) = G c.

Definition child_follows (s : shape) : Prop := forall G, harmonic V p G -> forall c drawn j,
  (length drawn <= count s)%nat -> (j < length drawn)%nat ->
  mean (bind (draw_below s c drawn) (fun d => kept_child s d c j)) (emitted V G) = G (c ++ [nth j drawn 0%nat]).

Lemma below_proper : forall s c drawn, proper V (draw_below s c drawn) (fun _ => True).
Proof.
  apply (draw_below_proper V siblings). intros c k.
  apply (proper_weaken V _ _ _ _ (draw_each_proper V _ (laws_rows c k))). intros drawn [L K]. split; auto.
  rewrite L. auto.
Qed.

Lemma at_proper : forall s c, proper V (draw_at s c (draw_below s c)) (fun _ => True).
Proof.
  intros [|b r] c; simpl; auto. apply (proper_bind V _ _ _ _ _ _ (draw_each_proper V _ (laws_rows c _))).
  intros drawn _. apply (below_proper (Shape b r) c drawn).
Qed.

Lemma child_from_node : forall b r, node_follows b -> child_follows r -> child_follows (Shape b r).
Proof.
  intros b r Hb Hr G HG c [|x drawn] [|j] L J; simpl in L, J; try lia.
  - simpl. rewrite !mean_bind. rewrite <- (Hb G HG (c ++ [x])), mean_bind. apply mean_ext. intros d.
    rewrite mean_bind. simpl. apply (mean_const V _ _ _ _ (below_proper r c drawn)).
  - simpl. rewrite !mean_bind. rewrite <- (Hr G HG c drawn j) by lia.
    rewrite (mean_ext V _ _ _ (fun _ => mean (bind (draw_below r c drawn) (fun d => kept_child r d c j)) (emitted V G))).
    + apply (mean_const V _ _ _ _ (at_proper b (c ++ [x]))).
    + intros d. rewrite !mean_bind. auto.
Qed.

Lemma node_from_child : forall b r, child_follows (Shape b r) -> node_follows (Shape b r).
Proof.
  intros b r H G HG c. set (s := Shape b r) in *. set (Rs := laws c (count s)).
  set (steps := fst (planned (by_ratio V) Rs (p c))). set (rest := snd (planned (by_ratio V) Rs (p c))).
  destruct (p_rows c) as [N S].
  assert (O : forall Rs t, _) by exact (by_ratio_once V).
  assert (W : forall g, mean (draw_each Rs) (fun drawn => worth g steps drawn) = total (fun y => (p c y - rest y) * g y)).
  { intros g. apply (planned_sound V _ (fun Rs t => proj1 (O Rs t)) (fun Rs t => proj2 (O Rs t)) Rs (p c) g); auto.
    apply laws_rows. }
  assert (Nr : forall y, 0 <= rest y).
  { apply (planned_sound V _ (fun Rs t => proj1 (O Rs t)) (fun Rs t => proj2 (O Rs t)) Rs (p c) (fun _ => 0)); auto.
    apply laws_rows. }
  pose proof (draw_each_proper V Rs (laws_rows c _)) as D.
  set (z := total (fun y => normalise rest y * G (c ++ [y]))).
  assert (Z : total rest * z = total (fun y => rest y * G (c ++ [y]))).
  { unfold z. rewrite <- total_mul. apply total_ext_in. intros y I.
    destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V rest Nr)) as [P|E].
    - rewrite <- Rmult_assoc, normalise_total; auto.
    - rewrite (total_zero V rest Nr (eq_sym E) y I), <- E. ring. }
  assert (U : mean (draw_each Rs) (unkept steps) = total rest).
  { rewrite (mean_ext V _ _ _ (fun drawn => 1 - worth (fun _ => 1) steps drawn))
      by (intros drawn; pose proof (worth_and_unkept steps drawn); lra).
    rewrite mean_sub, (mean_one V _ _ _ D), W.
    transitivity (total (p c) - total (fun y => (p c y - rest y) * 1)); [rewrite S; auto|].
    rewrite <- total_sub. apply total_ext. intros; ring. }
  change (mean (bind (bind (draw_each Rs) (draw_below s c)) (fun d =>
    bind (judge steps (tokens_of d)) (fun kept =>
      match kept with Some j => kept_child s d c j | None => Return (c, normalise rest) end))) (emitted V G) = G c).
  rewrite !mean_bind.
  rewrite (mean_ext_proper V _ _ _ _ (fun drawn => worth (fun y => G (c ++ [y])) steps drawn + unkept steps drawn * z) D).
  - rewrite mean_add, W. rewrite (mean_ext V _ _ (fun drawn => unkept steps drawn * z) (fun drawn => z * unkept steps drawn))
      by (intros; ring).
    rewrite mean_mul.  rewrite U, Rmult_comm, Z, <- total_add, (HG c). apply total_ext. intros; ring.
  - intros drawn [L K]. assert (L' : (length drawn <= count s)%nat) by (rewrite L; apply laws_count).
    rewrite (mean_tokens_of V siblings s c drawn (fun tokens d => mean (bind (judge steps tokens) (fun kept =>
      match kept with Some j => kept_child s d c j | None => Return (c, normalise rest) end)) (emitted V G))) by auto.
    rewrite (mean_ext V _ _ _ (fun d => mean (judge steps drawn) (fun kept =>
      verdict (fun j => mean (kept_child s d c j) (emitted V G)) z kept))).
    2: { intros d. rewrite mean_bind. apply mean_ext. intros [j|]; reflexivity. }
    rewrite mean_swap.
    rewrite <- (judge_value (fun y : token => G (c ++ [y])) z steps drawn
      (fun j => if (j <? length drawn)%nat then G (c ++ [nth j drawn 0%nat]) else
        mean (draw_below s c drawn) (fun d => mean (kept_child s d c j) (emitted V G)))).
    + apply mean_ext. intros [j|]; simpl; [|apply (mean_const V _ _ _ _ (below_proper s c drawn))].
      destruct (Nat.ltb_spec j (length drawn)); auto. rewrite <- (H G HG c drawn j), mean_bind by auto. auto.
    + intros i I. cbn beta. replace (i <? @length token drawn)%nat with true; [reflexivity|].
      symmetry. apply Nat.ltb_lt. exact I.
Qed.

Theorem priority_lossless : forall s c,
  lossless V p c (bind (draw_at s c (draw_below s c)) (fun d => priority s d c)).
Proof.
  assert (H : forall s, node_follows s /\ child_follows s).
  { induction s as [|b [Hb _] r [_ Hr]].
    - split; [intros G HG c; simpl; rewrite (HG c); auto|]. intros G HG c drawn j L J. simpl in L. lia.
    - pose proof (child_from_node b r Hb Hr). split; auto. apply node_from_child. auto. }
  intros s c G HG. apply H. auto.
Qed.

End PriorityNodes.
