(** What lossless means, and what a draft is worth to what was decided before it. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Lossless.
Variable V : nat.
Variables p q : context -> row.
Variable replacement : bool.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).

(** A quantity of the text so far that is the mean of its own values one target token later.  The probability
    that the target's text begins with a given word is one, see [reach_harmonic]. *)
Definition harmonic (G : context -> R) : Prop := forall c, G c = total (fun y => p c y * G (c ++ [y])).

Lemma harmonic_one : harmonic (fun _ => 1).
Proof. intros c. destruct (p_rows c) as [_ S]. rewrite <- S at 1. apply total_ext. intros; lra. Qed.

(** The quantity, once the block has stopped and its extra token is drawn. *)
Definition emitted (G : context -> R) (s : stop) : R :=
  let (c, r) := s in total (fun y => r y * G (c ++ [y])).

(** The same for programs that may end without a stop, which count as nothing. *)
Definition emitted_if (G : context -> R) (found : option stop) : R :=
  match found with Some s => emitted G s | None => 0 end.

Definition rejected (found : option stop) : R := match found with Some _ => 0 | None => 1 end.

(** One iteration from [c] is lossless: whatever is asked of the text has its mean under the target. *)
Definition lossless (c : context) (iteration : program stop) : Prop :=
  forall G, harmonic G -> mean iteration (emitted G) = G c.

Definition lossless_if (c : context) (iteration : program (option stop)) : Prop :=
  (forall G, harmonic G -> mean iteration (emitted_if G) = G c) /\ mean iteration rejected = 0.

(** What follows a rejection, with the value [v], counts as often as the program rejects. *)
Lemma split_emitted : forall G v (m : program (option stop)),
  mean m (fun found => match found with Some s => emitted_if G (Some s) | None => v end) =
  mean m (emitted_if G) + v * mean m rejected.
Proof. intros. rewrite <- mean_mul, <- mean_add. apply mean_ext. intros [s|]; simpl; lra. Qed.

Lemma split_rejected : forall v (m : program (option stop)),
  mean m (fun found => match found with Some s => rejected (Some s) | None => v end) = v * mean m rejected.
Proof. intros. rewrite <- mean_mul. apply mean_ext. intros [s|]; simpl; lra. Qed.

(** ** Words *)

(** The probability that a text which goes on from [c ++ d] by the target's tokens agrees with [c ++ u]. *)
Fixpoint reach (u d : list token) (c : context) : R :=
  match u, d with
  | [], _ => 1
  | x :: u, [] => p c x * reach u [] (c ++ [x])
  | x :: u, y :: d => if (x =? y)%nat then reach u d (c ++ [x]) else 0
  end.

Lemma total_single : forall f x v, In x (vocabulary V) ->
  total (fun y => f y * (if (x =? y)%nat then v else 0)) = f x * v.
Proof.
  intros f x v. unfold RealPrograms.total, vocabulary. generalize (seq_NoDup V 0). generalize (seq 0 V).
  induction l as [|y l IH]; simpl; intros N I; [contradiction|].
  inversion N as [|? ? Y N']; subst. destruct (Nat.eqb_spec x y) as [->|D].
  - assert (Z : fold_right (fun x sum => f x * (if (y =? x)%nat then v else 0) + sum) 0 l = 0).
    { clear -Y. induction l as [|z l IH]; simpl; auto. rewrite IH by (intros J; apply Y; simpl; auto).
      destruct (Nat.eqb_spec y z) as [->|]; [|lra]. exfalso. apply Y. simpl. auto. }
    rewrite Z. lra.
  - rewrite IH; auto; [lra|]. destruct I; [congruence|auto].
Qed.

Lemma reach_step : forall u, (forall x, In x u -> In x (vocabulary V)) -> forall d c, is_row V (p (c ++ d)) ->
  reach u d c = total (fun y => p (c ++ d) y * reach u (d ++ [y]) c).
Proof.
  induction u as [|x u IH]; intros U d c R.
  - destruct R as [_ S]. rewrite <- S at 1. simpl. apply total_ext. intros; lra.
  - destruct d as [|y d]; simpl.
    + rewrite app_nil_r, (total_single (p c) x (reach u [] (c ++ [x]))); auto. apply U. simpl. auto.
    + destruct (x =? y)%nat eqn:E.
      * apply Nat.eqb_eq in E. subst y. rewrite IH; [| |rewrite <- app_assoc; auto].
        -- rewrite <- app_assoc. auto.
        -- intros z I. apply U. simpl. auto.
      * rewrite (total_ext V _ (fun z => 0 * 0)) by (intros; lra). rewrite total_mul. lra.
Qed.

(** The probability that the text begins with a word is harmonic, so lossless programs keep it. *)
Lemma reach_harmonic : forall u, (forall x, In x u -> In x (vocabulary V)) -> harmonic (fun c => reach u c []).
Proof. intros u U c. apply (reach_step u U c []), p_rows. Qed.

(** ** Drafts *)

Lemma q_law : forall c, is_row_or_empty V (q c).
Proof. intros. apply row_or_empty, q_rows. Qed.

(** ** A row without one of its tokens *)

Lemma without_self : forall r x, (forall y, 0 <= r y) -> without V r x x = 0.
Proof.
  intros r x N. unfold without, normalise. simpl.
  destruct (Rlt_dec 0 _); rewrite Nat.eqb_refl; [apply Rmult_0_l|reflexivity].
Qed.

Section Without.
Variable r : row.
Hypothesis r_row : is_row V r.
Variable x : token.
Hypothesis x_known : In x (vocabulary V).

Lemma first_mass : 0 <= r x <= 1.
Proof.
  destruct r_row as [N S]. split; auto. rewrite <- S, <- (Rmult_1_r (r x)), <- (total_single r x 1 x_known).
  apply total_le. intros y. specialize (N y). destruct (x =? y)%nat; lra.
Qed.

Lemma rest_mass : total (fun y : token => if (y =? x)%nat then 0 else r y) = 1 - r x.
Proof.
  destruct r_row as [N S]. rewrite <- S, <- (Rmult_1_r (r x)), <- (total_single r x 1 x_known), <- total_sub.
  apply total_ext. intros y. rewrite (Nat.eqb_sym x y). destruct (y =? x)%nat; lra.
Qed.

Lemma without_mass : forall y, In y (vocabulary V) -> (y =? x)%nat = false -> (1 - r x) * without V r x y = r y.
Proof.
  intros y I D. destruct r_row as [N S]. rewrite <- rest_mass.
  set (s := fun y : token => if (y =? x)%nat then 0 else r y). change (without V r x y) with (normalise V s y).
  assert (E : s y = r y) by (unfold s; rewrite D; auto).
  assert (M : forall z, 0 <= s z) by (intros z; unfold s; destruct (z =? x)%nat; auto; lra).
  destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V s M)) as [P|Z].
  - rewrite normalise_total; auto.
  - rewrite <- Z. pose proof (total_zero V s M (eq_sym Z) y I). lra.
Qed.

Lemma without_row : r x < 1 -> is_row V (without V r x).
Proof.
  intros L. apply normalise_row.
  - intros y. destruct (y =? x)%nat; [apply Rle_refl|apply r_row].
  - change (0 < total (fun y : token => if (y =? x)%nat then 0 else r y)). rewrite rest_mass. lra.
Qed.

(** Either the token is [x], or it is drawn without [x]. *)
Lemma with_or_without : forall f,
  total (fun y => r y * f y) = r x * f x + (1 - r x) * total (fun y => without V r x y * f y).
Proof.
  intros f. rewrite <- total_mul, <- (total_single r x _ x_known), <- total_add.
  apply total_ext_in. intros y I. rewrite (Nat.eqb_sym x y). destruct (Nat.eqb_spec y x) as [->|D].
  - rewrite without_self by apply r_row. ring.
  - rewrite <- (without_mass y I) at 1 by (apply Nat.eqb_neq; auto). ring.
Qed.

End Without.

(** ** Drafts in order *)

(** A draft of the children of [c] that is drawn in order, the first child from [r].  Whether there is a child, a
    next sibling and anything below may be decided along the way, with coins and by earlier tokens: [decide] is
    such a decision, taken once the first child is known.  [next] says which row may follow [r] after [x]. *)
Inductive sampled (next : row -> token -> row -> Prop) : context -> row -> program children -> Prop :=
| no_child : forall c r, sampled next c r (Return NoChild)
| first_child : forall c r (decision : Type) (decide : token -> program decision)
    (taken : token -> decision -> Prop) (below rest : token -> decision -> program children)
    (row_after : token -> decision -> row),
    is_row V r ->
    (forall x, In x (vocabulary V) -> proper V (decide x) (taken x)) ->
    (forall x d, taken x d -> next r x (row_after x d)) ->
    (forall x d, taken x d -> sampled next (c ++ [x]) (q (c ++ [x])) (below x d)) ->
    (forall x d, taken x d -> sampled next c (row_after x d) (rest x d)) ->
    sampled next c r (Choose r (fun x => bind (decide x) (fun d =>
      bind (below x d) (fun drawn_below => bind (rest x d) (fun drawn_rest =>
      Return (Child x drawn_below drawn_rest))))))
| same_law : forall c r m m', sampled next c r m -> (forall f, mean m' f = mean m f) -> sampled next c r m'.

(** A draft has mass 1: what was decided without it does not depend on it. *)
Lemma mean_sampled : forall next c r m, sampled next c r m -> forall v, mean m (fun _ => v) = v.
Proof.
  induction 1 as [c r|c r decision decide taken below rest row_after R D N B IHb S IHs|c r m m' H IH E]; intros v; simpl; auto.
  - rewrite (total_ext_in V _ (fun x => r x * v)).
    + rewrite total_mul_right. destruct R as [_ ->]. lra.
    + intros x I. f_equal. rewrite mean_bind, (mean_ext_proper V _ _ _ _ (fun _ => v) (D x I)).
      * apply (mean_const V _ _ _ _ (D x I)).
      * intros d T. rewrite mean_bind, (mean_ext V _ _ _ (fun _ => v)); auto.
        intros drawn. rewrite mean_bind. simpl. auto.
  - rewrite E. auto.
Qed.

(** The siblings' rows of trees drawn with or without replacement. *)
Definition in_order (r : row) (x : token) (r' : row) : Prop := r' = after V replacement r x.

(** Where siblings can be drawn from a row, the row has mass 1. *)
Lemma drawable : forall r, is_row_or_empty V r -> 0 < total r -> is_row V r.
Proof. intros r [H [S|S]] L; split; auto. lra. Qed.

Lemma draw_sampled : forall s c r, is_row_or_empty V r -> sampled in_order c r (draw V q replacement s c r).
Proof.
  induction s as [|below IHb rest IHr]; simpl; intros c r H; [apply no_child|].
  destruct (Rlt_dec 0 (total r)) as [L|L]; [|apply no_child].
  apply (first_child in_order c r unit (fun _ => Return tt) (fun _ _ => True)
    (fun x _ => draw V q replacement below (c ++ [x]) (q (c ++ [x])))
    (fun x _ => draw V q replacement rest c (after V replacement r x)) (fun x _ => after V replacement r x));
    simpl; auto.
  - apply drawable; auto.
  - intros; reflexivity.
  - intros. apply IHb, q_law.
  - intros. apply IHr, after_row. auto.
Qed.

(** The siblings can have been drawn: every token of them had mass when it was drawn. *)
Fixpoint possible (siblings : children) (c : context) (q_c : row) : Prop :=
  match siblings with
  | NoChild => True
  | Child x below rest =>
      In x (vocabulary V) /\ 0 < q_c x /\
      possible below (c ++ [x]) (q (c ++ [x])) /\ possible rest c (after V replacement q_c x)
  end.

Lemma draw_proper : forall s c q_c, is_row_or_empty V q_c ->
  proper V (draw V q replacement s c q_c) (fun siblings => possible siblings c q_c).
Proof.
  induction s as [|below IHb rest IHr]; simpl; intros c q_c H; auto.
  destruct (Rlt_dec 0 (total q_c)) as [L|L]; simpl; auto. split; [apply drawable; auto|].
  intros x I P. apply (proper_bind V _ _ _ _ (fun d => possible d (c ++ [x]) (q (c ++ [x])))).
  - apply IHb, q_law.
  - intros drawn_below B. apply (proper_bind V _ _ _ _ (fun d => possible d c (after V replacement q_c x))).
    + apply IHr, after_row. auto.
    + intros drawn_rest R. simpl. auto.
Qed.

(** A stop at or below [c] whose extra token is drawn from a row. *)
Definition stops_below (c : context) (s : stop) : Prop := (exists e, fst s = c ++ e) /\ is_row V (snd s).

Lemma stops_deeper : forall c x s, stops_below (c ++ [x]) s -> stops_below c s.
Proof. intros c x s [[e E] R]. split; auto. exists (x :: e). rewrite E, <- app_assoc. auto. Qed.

End Lossless.
