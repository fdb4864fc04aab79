(** Sums over the vocabulary, means of programs, and the one lemma about rows that every verifier rests on. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Means.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

(** ** Sums *)

Lemma total_ext : forall f g, (forall x, f x = g x) -> total f = total g.
Proof. intros f g H. unfold RealPrograms.total. induction (vocabulary V) as [|x l IH]; simpl; congruence. Qed.

Lemma total_ext_in : forall f g, (forall x, In x (vocabulary V) -> f x = g x) -> total f = total g.
Proof.
  intros f g. unfold RealPrograms.total. induction (vocabulary V) as [|x l IH]; simpl; intros H; auto.
  rewrite (H x), IH; auto.
Qed.

Lemma total_add : forall f g, total (fun x => f x + g x) = total f + total g.
Proof. intros. unfold RealPrograms.total. induction (vocabulary V); simpl; lra. Qed.

Lemma total_sub : forall f g, total (fun x => f x - g x) = total f - total g.
Proof. intros. unfold RealPrograms.total. induction (vocabulary V); simpl; lra. Qed.

Lemma total_mul : forall a f, total (fun x => a * f x) = a * total f.
Proof. intros. unfold RealPrograms.total. induction (vocabulary V); simpl; lra. Qed.

Lemma total_mul_right : forall a f, total (fun x => f x * a) = total f * a.
Proof. intros. unfold RealPrograms.total. induction (vocabulary V); simpl; lra. Qed.

Lemma total_div : forall f s, total (fun x => f x / s) = total f / s.
Proof. intros. unfold Rdiv. apply total_mul_right. Qed.

Lemma total_le : forall f g, (forall x, f x <= g x) -> total f <= total g.
Proof.
  intros f g H. unfold RealPrograms.total. induction (vocabulary V) as [|x l IH]; simpl; [lra|].
  specialize (H x). lra.
Qed.

Lemma total_nonneg : forall f, (forall x, 0 <= f x) -> 0 <= total f.
Proof.
  intros f H. replace 0 with (total (fun _ => 0)); [apply total_le; auto|].
  unfold RealPrograms.total. induction (vocabulary V); simpl; lra.
Qed.

(** A sum of non-negative numbers that is zero has no other terms. *)
Lemma total_zero : forall f, (forall x, 0 <= f x) -> total f = 0 ->
  forall x, In x (vocabulary V) -> f x = 0.
Proof.
  intros f H. unfold RealPrograms.total. induction (vocabulary V) as [|y l IH]; simpl; intros T x I; [contradiction|].
  assert (0 <= fold_right (fun x sum => f x + sum) 0 l).
  { clear -H. induction l as [|z l IH]; simpl; [lra|]. specialize (H z). lra. }
  pose proof (H y). destruct I as [->|I]; [lra|]. apply IH; auto. lra.
Qed.

Lemma total_swap : forall f : token -> token -> R,
  total (fun x => total (fun y => f x y)) = total (fun y => total (fun x => f x y)).
Proof.
  intros f. unfold RealPrograms.total.
  assert (H : forall k l : list token,
    fold_right (fun x sum => fold_right (fun y sum => f x y + sum) 0 l + sum) 0 k =
    fold_right (fun y sum => fold_right (fun x sum => f x y + sum) 0 k + sum) 0 l).
  { induction k as [|x k IH]; simpl; intros l.
    - induction l; simpl; lra.
    - rewrite IH. clear IH. induction l as [|y l IH]; simpl; [lra|]. rewrite <- IH. lra. }
  apply H.
Qed.

(** ** Means *)

Lemma mean_bind : forall A B (m : program A) (k : A -> program B) f,
  mean (bind m k) f = mean m (fun a => mean (k a) f).
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros; auto.
  - apply total_ext. intros. rewrite IH. auto.
  - rewrite !IH. auto.
Qed.

Lemma mean_ext : forall A (m : program A) f g, (forall a, f a = g a) -> mean m f = mean m g.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros; auto.
  - apply total_ext. intros. rewrite (IH x f g); auto.
  - rewrite (IH true f g), (IH false f g); auto.
Qed.

Lemma mean_add : forall A (m : program A) f g, mean m (fun a => f a + g a) = mean m f + mean m g.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros; auto.
  - rewrite <- total_add. apply total_ext. intros. rewrite IH. lra.
  - rewrite !IH. lra.
Qed.

Lemma mean_mul : forall A (m : program A) a f, mean m (fun x => a * f x) = a * mean m f.
Proof.
  induction m as [b|r rest IH|b rest IH]; simpl; intros; auto.
  - rewrite <- total_mul. apply total_ext. intros. rewrite IH. lra.
  - rewrite !IH. lra.
Qed.

Lemma mean_sub : forall A (m : program A) f g, mean m (fun a => f a - g a) = mean m f - mean m g.
Proof.
  intros. replace (mean m f - mean m g) with (mean m f + -1 * mean m g) by lra.
  rewrite <- mean_mul, <- mean_add. apply mean_ext. intros. lra.
Qed.

Lemma mean_total : forall A (m : program A) (f : token -> A -> R),
  mean m (fun a => total (fun x => f x a)) = total (fun x => mean m (f x)).
Proof.
  induction m as [b|r rest IH|b rest IH]; simpl; intros; auto.
  - rewrite total_swap. apply total_ext. intros. rewrite IH, total_mul. auto.
  - rewrite !IH, <- !total_mul, <- total_add. auto.
Qed.

(** Two independent programs may run in either order. *)
Lemma mean_swap : forall A B (m : program A) (n : program B) (f : A -> B -> R),
  mean m (fun a => mean n (fun b => f a b)) = mean n (fun b => mean m (fun a => f a b)).
Proof.
  induction m as [c|r rest IH|c rest IH]; simpl; intros; auto.
  - rewrite mean_total. apply total_ext. intros. rewrite IH. rewrite mean_mul. auto.
  - rewrite !IH, <- !mean_mul, <- mean_add. auto.
Qed.

(** ** Programs that choose from rows and accept with probabilities *)

Definition is_row (r : row) : Prop := (forall x, 0 <= r x) /\ total r = 1.

(** On every branch of positive probability: what is chosen from is a row, what is accepted with is a
    probability, and the result satisfies [post]. *)
Fixpoint proper {A} (m : program A) (post : A -> Prop) : Prop :=
  match m with
  | Return result => post result
  | Choose r rest => is_row r /\ forall x, In x (vocabulary V) -> 0 < r x -> proper (rest x) post
  | Accept a rest => 0 <= a <= 1 /\ (0 < a -> proper (rest true) post) /\ (a < 1 -> proper (rest false) post)
  end.

Lemma proper_weaken : forall A (m : program A) (f g : A -> Prop),
  proper m f -> (forall a, f a -> g a) -> proper m g.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros f g H W; auto.
  - destruct H as [R H]. split; auto. intros. apply (IH x f); auto.
  - destruct H as [B [H1 H2]]. split; auto. split; intros; apply (IH _ f); auto.
Qed.

Lemma proper_and : forall A (m : program A) (f g : A -> Prop),
  proper m f -> proper m g -> proper m (fun a => f a /\ g a).
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros f g F G; auto.
  - destruct F as [R F], G as [_ G]. split; auto.
  - destruct F as [B [F1 F2]], G as [_ [G1 G2]]. auto.
Qed.

Lemma proper_bind : forall A B (m : program A) (k : A -> program B) f g,
  proper m f -> (forall a, f a -> proper (k a) g) -> proper (bind m k) g.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros k f g H K; auto.
  - destruct H as [R H]. split; auto. intros. apply (IH x k f); auto.
  - destruct H as [B' [H1 H2]]. split; auto. split; intros; apply (IH _ k f); auto.
Qed.

Lemma mean_le : forall A (m : program A) (post : A -> Prop) f g,
  proper m post -> (forall a, post a -> f a <= g a) -> mean m f <= mean m g.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros post f g H L; auto.
  - destruct H as [[N _] H].
    assert (T : forall x, In x (vocabulary V) -> r x * mean (rest x) f <= r x * mean (rest x) g).
    { intros x I. destruct (Rle_lt_or_eq_dec _ _ (N x)) as [P|Z]; [|rewrite <- Z; lra].
      apply Rmult_le_compat_l; auto. apply (IH x post); auto. }
    unfold RealPrograms.total. induction (vocabulary V) as [|x l IHl]; simpl in *; [lra|].
    assert (r x * mean (rest x) f <= r x * mean (rest x) g) by auto.
    assert (fold_right (fun x sum => r x * mean (rest x) f + sum) 0 l <=
            fold_right (fun x sum => r x * mean (rest x) g + sum) 0 l) by (apply IHl; auto).
    lra.
  - destruct H as [B [H1 H2]].
    assert (a * mean (rest true) f <= a * mean (rest true) g).
    { destruct (Rle_lt_or_eq_dec 0 a) as [P|Z]; [lra| |rewrite <- Z; lra].
      apply Rmult_le_compat_l; [lra|]. apply (IH true post); auto. }
    assert ((1 - a) * mean (rest false) f <= (1 - a) * mean (rest false) g).
    { destruct (Rle_lt_or_eq_dec a 1) as [P|Z]; [lra| |rewrite Z; lra].
      apply Rmult_le_compat_l; [lra|]. apply (IH false post); auto. }
    lra.
Qed.

Lemma mean_ext_proper : forall A (m : program A) (post : A -> Prop) f g,
  proper m post -> (forall a, post a -> f a = g a) -> mean m f = mean m g.
Proof.
  intros A m post f g H E. apply Rle_antisym; apply (mean_le _ _ post); auto; intros a P; rewrite (E a P); lra.
Qed.

Lemma mean_one : forall A (m : program A) post, proper m post -> mean m (fun _ => 1) = 1.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros post H; auto.
  - destruct H as [[N S] H]. transitivity (total r); auto. apply total_ext_in. intros x I.
    destruct (Rle_lt_or_eq_dec _ _ (N x)) as [P|Z]; [rewrite (IH x post); auto; lra|rewrite <- Z; lra].
  - destruct H as [B [H1 H2]].
    assert (a * mean (rest true) (fun _ => 1) = a).
    { destruct (Rle_lt_or_eq_dec 0 a) as [P|Z]; [lra|rewrite (IH true post); auto; lra|rewrite <- Z; lra]. }
    assert ((1 - a) * mean (rest false) (fun _ => 1) = 1 - a).
    { destruct (Rle_lt_or_eq_dec a 1) as [P|Z]; [lra|rewrite (IH false post); auto; lra|rewrite Z; lra]. }
    lra.
Qed.

(** What does not depend on the program's result is its own mean. *)
Lemma mean_const : forall A (m : program A) post v, proper m post -> mean m (fun _ => v) = v.
Proof.
  intros A m post v H. rewrite (mean_ext _ _ _ (fun _ => v * 1)) by (intros; lra).
  rewrite mean_mul, (mean_one _ _ _ H). lra.
Qed.

(** ** Rows *)

(** A row that something may be drawn from, or that has run out. *)
Definition is_row_or_empty (r : row) : Prop := (forall x, 0 <= r x) /\ (total r = 1 \/ total r = 0).

(** A row that is entered with rate [a]; where the rate is zero, nothing is known of the row. *)
Definition entered (a : R) (r : row) : Prop := 0 <= a <= 1 /\ (a = 0 \/ is_row r).

Lemma row_or_empty : forall r, is_row r -> is_row_or_empty r.
Proof. intros r [H S]; split; auto. Qed.

Lemma entered_scale : forall a r, entered a r -> (forall x, 0 <= scale a r x) /\ total (scale a r) = a.
Proof.
  unfold scale. intros a r [A [-> | [H S]]].
  - split; intros; [lra|]. rewrite total_mul. lra.
  - split; intros; [apply Rmult_le_pos; auto; lra|]. rewrite total_mul, S. lra.
Qed.

Lemma share_bounds : forall u v, 0 <= u -> 0 <= share u v <= 1.
Proof.
  intros u v H. unfold share. destruct (Rlt_dec u v); [|lra].
  split; [apply Rmult_le_pos; [lra|]; left; apply Rinv_0_lt_compat; lra|].
  apply Rmult_le_reg_r with v; [lra|]. field_simplify; lra.
Qed.

(** What is drawn with mass [v] and accepted with [share u v] has the mass min(u, v). *)
Lemma share_mass : forall u v, 0 <= u -> 0 <= v -> v * share u v = Rmin u v.
Proof.
  intros u v U W. unfold share, Rmin. destruct (Rlt_dec u v), (Rle_dec u v); try lra. field. lra.
Qed.

(** [share] undone: of the whole [v], which has at least [u], it takes [u]. *)
Lemma share_of_whole : forall u v, 0 <= u <= v -> v * share u v = u.
Proof. intros. rewrite share_mass by lra. apply Rmin_left. lra. Qed.

Lemma excess_min : forall p q x, excess p q x = p x - Rmin (p x) (q x).
Proof.
  intros. unfold excess, positive, Rmin. simpl.
  destruct (Rlt_dec 0 (p x - q x)), (Rle_dec (p x) (q x)); lra.
Qed.

Lemma excess_nonneg : forall p q x, 0 <= excess p q x.
Proof. intros. rewrite excess_min. unfold Rmin. destruct (Rle_dec (p x) (q x)); lra. Qed.

Lemma total_excess : forall p q, total (excess p q) = total p - total (fun x => Rmin (p x) (q x)).
Proof. intros. rewrite <- total_sub. apply total_ext. intros. apply excess_min. Qed.

Lemma normalise_row : forall r, (forall x, 0 <= r x) -> 0 < total r -> is_row (normalise r).
Proof.
  intros r H S. unfold RealPrograms.normalise. destruct (Rlt_dec 0 (total r)); [|lra]. split.
  - intros. apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat. auto.
  - rewrite total_div. field. lra.
Qed.

Lemma normalise_empty : forall r, ~ 0 < total r -> normalise r = r.
Proof. intros. unfold RealPrograms.normalise. destruct (Rlt_dec 0 (total r)); [contradiction|auto]. Qed.

Lemma normalise_total : forall r x, 0 < total r -> total r * normalise r x = r x.
Proof. intros. unfold RealPrograms.normalise. destruct (Rlt_dec 0 (total r)); [|lra]. field. lra. Qed.

Lemma positive_min : forall a b, positive (a - b) = a - Rmin a b.
Proof. intros. exact (excess_min (fun _ => a) (fun _ => b) 0%nat). Qed.

Lemma share_positive : forall u v, 0 <= u -> 0 < v -> 0 < share u v -> 0 < u.
Proof.
  intros u v U W. unfold share. simpl. destruct (Rlt_dec u v); [|lra]. intros H.
  destruct (Rle_lt_or_eq_dec _ _ U) as [|Z]; auto. subst. unfold Rdiv in H. rewrite Rmult_0_l in H. lra.
Qed.

Lemma share_below_one : forall u v, share u v < 1 -> u < v.
Proof. intros u v. unfold share. simpl. destruct (Rlt_dec u v); auto. lra. Qed.

Lemma excess_difference : forall t r,
  total (excess t r) - total (excess r t) = total t - total r.
Proof.
  intros. rewrite !total_excess.
  rewrite (total_ext (fun x => Rmin (r x) (t x)) (fun x => Rmin (t x) (r x))) by (intros; apply Rmin_comm). lra.
Qed.

Lemma normalise_nonneg : forall r x, (forall y, 0 <= r y) -> 0 <= normalise r x.
Proof.
  intros r x N. unfold RealPrograms.normalise. simpl. destruct (Rlt_dec 0 (total r)) as [P|]; auto.
  apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat. auto.
Qed.

Lemma normalise_positive : forall r x, (forall y, 0 <= r y) -> 0 < normalise r x -> 0 < r x.
Proof.
  intros r x N P. destruct (Rle_lt_or_eq_dec _ _ (N x)) as [|Z]; auto. exfalso. revert P.
  unfold RealPrograms.normalise. simpl. destruct (Rlt_dec 0 (total r)); [unfold Rdiv|]; rewrite <- Z; lra.
Qed.

(** The proposal of the siblings to come is a row, or there are none to come. *)
Lemma after_row : forall replacement q x, is_row_or_empty q -> is_row_or_empty (after V replacement q x).
Proof.
  intros replacement q x Hq. unfold after. destruct replacement; auto. unfold without.
  set (rest := fun y => if (y =? x)%nat then 0 else q y).
  assert (N : forall y, 0 <= rest y) by (intros; unfold rest; destruct (y =? x)%nat; [lra|apply Hq]).
  change (is_row_or_empty (normalise rest)).
  destruct (Rlt_dec 0 (total rest)) as [L|L].
  - apply row_or_empty, normalise_row; auto.
  - rewrite normalise_empty by auto. split; auto. right. pose proof (total_nonneg rest N). lra.
Qed.

(** ** The one-node lemma: [x] is drawn from [q] and accepted with [share (t x) (q x)] *)

Section OneNode.
Variables t q : row.
Hypothesis t_nonneg : forall x, 0 <= t x.
Hypothesis q_row : is_row q.

(** A rejection has the mass of the residual, and of what [t] lacks of mass 1. *)
Lemma rejected_mass :
  total (fun x => q x * (1 - share (t x) (q x))) = total (excess t q) + (1 - total t).
Proof.
  destruct q_row as [Q S]. rewrite total_excess.
  rewrite (total_ext _ (fun x => q x - Rmin (t x) (q x))).
  - rewrite total_sub, S. lra.
  - intros. rewrite <- share_mass by auto. lra.
Qed.

(** Accepted tokens and the residual together are [t]. *)
Lemma accepted_and_residual : forall x, q x * share (t x) (q x) + excess t q x = t x.
Proof. intros. destruct q_row. rewrite share_mass, excess_min by auto. lra. Qed.

Lemma rejection_nonneg : forall x, 0 <= q x * (1 - share (t x) (q x)).
Proof.
  intros. destruct q_row as [Q _]. pose proof (share_bounds (t x) (q x) (t_nonneg x)).
  apply Rmult_le_pos; auto. lra.
Qed.

End OneNode.
End Means.
