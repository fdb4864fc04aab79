(** Every plan of the membership-cost transport problem gives a lossless rule (sun2023spectr, Section 3;
    theory/verifiers/optimal_transport.py).

    Given the drawn siblings a plan gives each of some tokens a share; what a token gets on average and the rest
    of the row together are the target's.  The tokens are judged in turn, each with its share over what the earlier
    left of 1; if none is taken, the extra token comes from the rest. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless TopDown Lift Nodes.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Plans.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

Fixpoint take (shared : list (token * R)) (left : R) (otherwise : program token) : program token :=
  match shared with
  | [] => otherwise
  | (x, w) :: shared => Accept (share w left) (fun taken => if taken then Return x else take shared (left - w) otherwise)
  end.

Definition plan_rule (plan : context -> list token -> list (token * R)) (rest : context -> nat -> row)
    (c : context) (tokens : list token) : program token :=
  take (plan c tokens) 1 (Choose (normalise (rest c (length tokens))) Return).

(** What the tokens with shares are worth, and what the token [y] gets. *)
Fixpoint valued (f : token -> R) (shared : list (token * R)) : R :=
  match shared with [] => 0 | (x, w) :: shared => w * f x + valued f shared end.
Fixpoint gets (y : token) (shared : list (token * R)) : R :=
  match shared with [] => 0 | (x, w) :: shared => (if (x =? y)%nat then w else 0) + gets y shared end.

Definition fits (shared : list (token * R)) (left : R) : Prop :=
  (forall x w, In (x, w) shared -> In x (vocabulary V) /\ 0 <= w) /\ valued (fun _ => 1) shared <= left.

Lemma valued_nonneg : forall shared, (forall x w, In (x, w) shared -> In x (vocabulary V) /\ 0 <= w) -> 0 <= valued (fun _ => 1) shared.
Proof.
  induction shared as [|[x w] shared IH]; simpl; intros H; [lra|]. destruct (H x w (or_introl eq_refl)) as [_ W].
  assert (0 <= valued (fun _ => 1) shared) by (apply IH; intros; apply H; auto). lra.
Qed.

Lemma take_value : forall f otherwise shared left, fits shared left ->
  left * mean (take shared left otherwise) f = valued f shared + (left - valued (fun _ => 1) shared) * mean otherwise f.
Proof.
  intros f otherwise. induction shared as [|[x w] shared IH]; intros left [H L]; simpl; [ring|].
  destruct (H x w (or_introl eq_refl)) as [_ W]. change (w * 1 + valued (fun _ => 1) shared <= left) in L.
  assert (H' : forall y v, In (y, v) shared -> In y (vocabulary V) /\ 0 <= v) by (intros; apply H; simpl; auto).
  pose proof (valued_nonneg shared H') as N. assert (L' : valued (fun _ => 1) shared <= left - w) by lra. pose proof (IH (left - w) (conj H' L')) as E.
  pose proof (share_of_whole w left ltac:(lra)) as S.
  transitivity (left * share w left * f x + (left - left * share w left) * mean (take shared (left - w) otherwise) f); [ring|].
  rewrite S, E. ring.
Qed.

Lemma valued_gets : forall f shared, (forall x w, In (x, w) shared -> In x (vocabulary V) /\ 0 <= w) ->
  valued f shared = total (fun y => gets y shared * f y).
Proof.
  intros f. induction shared as [|[x w] shared IH]; simpl; intros H.
  - rewrite (total_ext V _ (fun _ => 0 * 0)) by (intros; ring). rewrite total_mul. ring.
  - destruct (H x w (or_introl eq_refl)) as [I _]. rewrite IH by (intros; apply H; auto).
    rewrite <- (Rmult_comm (f x)), <- (total_single V f x w I), <- total_add. apply total_ext. intros y.
    destruct (x =? y)%nat; ring.
Qed.

Variable siblings : context -> nat -> program (list token).
Variable size : context -> nat -> nat.  (** how many are drawn where so many are asked for *)
Hypothesis siblings_proper : forall c k, proper V (siblings c k) (fun tokens =>
  (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).
Hypothesis siblings_size : forall c k, proper V (siblings c (S k)) (fun tokens => length tokens = S (size c k)).
Variable plan : context -> list token -> list (token * R).
Variable rest : context -> nat -> row.
Hypothesis plan_fits : forall c tokens, fits (plan c tokens) 1.
Hypothesis rest_nonneg : forall c k y, 0 <= rest c k y.
Hypothesis plan_valid : forall c k y, In y (vocabulary V) ->
  mean (siblings c (S k)) (fun tokens => gets y (plan c tokens)) + rest c (S (size c k)) y = p c y.

Lemma plan_mean : forall c k f, mean (siblings c (S k)) (fun tokens => valued f (plan c tokens)) =
  total (fun y => (p c y - rest c (S (size c k)) y) * f y).
Proof.
  intros c k f. rewrite (mean_ext V _ _ _ (fun tokens => total (fun y => f y * gets y (plan c tokens)))).
  - rewrite (mean_total V _ _ (fun y tokens => f y * gets y (plan c tokens))). apply total_ext_in. intros y I.
    rewrite mean_mul, <- (plan_valid c k y I). ring.
  - intros tokens. rewrite (valued_gets f _ (proj1 (plan_fits c tokens))). apply total_ext. intros; ring.
Qed.

Theorem plan_lossless : forall s c, lossless V p c
  (bind (draw_at siblings s c (draw_below siblings s c)) (fun t => node_by_node p (plan_rule plan rest) t c)).
Proof.
  apply nodes_lossless; auto.
  - intros c k. apply (proper_weaken V _ _ _ _ (siblings_size c k)). intros [|x tokens] E; discriminate.
  - intros c tokens _. unfold plan_rule. pose proof (proj1 (plan_fits c tokens)) as K. revert K. generalize 1 as left.
    induction (plan c tokens) as [|[x w] shared IH]; simpl; intros left K; auto. split; [apply (K x w); auto|].
    apply IH. intros. apply K; auto.
  - intros c k f. set (r := rest c (S (size c k))). set (z := total (fun y => normalise r y * f y)).
    assert (Z : total r * z = total (fun y => r y * f y)).
    { unfold z. rewrite <- total_mul. apply total_ext_in. intros y I.
      destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V r (rest_nonneg c _))) as [T|E].
      - rewrite <- Rmult_assoc, normalise_total; auto.
      - rewrite (total_zero V r (rest_nonneg c _) (eq_sym E) y I), <- E. ring. }
    rewrite mean_bind, (mean_ext_proper V _ _ _ _ (fun tokens =>
      valued f (plan c tokens) + (z - z * valued (fun _ => 1) (plan c tokens))) (siblings_size c k)).
    + rewrite mean_add, mean_sub, mean_mul, !plan_mean, (mean_const V _ _ _ _ (siblings_size c k)). fold r.
      assert (M : total (fun y => (p c y - r y) * 1) = 1 - total r).
      { destruct (p_rows c) as [_ S]. transitivity (total (p c) - total r); [|rewrite S; auto].
        rewrite <- total_sub. apply total_ext. intros; ring. }
      rewrite M. replace (z - z * (1 - total r)) with (total r * z) by ring. rewrite Z, <- total_add.
      apply total_ext. intros; ring.
    + intros tokens E. pose proof (take_value f (Choose (normalise (rest c (length tokens))) Return) (plan c tokens) 1 (plan_fits c tokens)) as T.
      rewrite Rmult_1_l in T. unfold plan_rule. rewrite T, E. fold r. change (mean (Choose (normalise r) Return) f) with z. ring.
Qed.

End Plans.
