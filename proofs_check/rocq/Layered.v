(** Layered transport is lossless, whatever its plan.

    A level's nodes have rows: what verification is to emit just below them.  A plan says how much of a row goes to
    which child; the drawn children get rows whose mean is the plan's mass times the target's row.  Upwards from the
    deepest level, a node stops with its residual's mass over what is left. *)

Require Import Reals Lra List.
Require Import Programs Numbers Means Lossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Layered.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

Definition level := list (context * row).
Fixpoint over (F : level) (f : context -> row -> R) : R := match F with [] => 0 | (v, e) :: F => f v e + over F f end.
Definition mass (F : level) : R := over F (fun _ e => total e).

(** A quantity of a node's context and next token, on average over what is emitted just below a level. *)
Definition worth (W : context -> token -> R) (F : level) : R := over F (fun v e => total (fun x => e x * W v x)).

(** Whatever is drawn down to a level, with the level's nodes; the plan's rows, one for each node, and what they leave of
    the nodes' own; the next level. *)
Variable drawn : Type.
Variable nodes : drawn -> level.
Variable plan : drawn -> list row.
Variable descend : drawn -> program drawn.
Definition taken (D : drawn) : level := combine (map fst (nodes D)) (plan D).
Definition residuals (D : drawn) : level :=
  map (fun '((v, e), m) => (v, fun x => e x - m x)) (combine (nodes D) (plan D)).

Definition valid (D : drawn) : Prop := (forall v e, In (v, e) (nodes D) -> forall x, 0 <= e x) /\ mass (nodes D) <= 1.
Hypothesis plans : forall D, valid D -> length (plan D) = length (nodes D) /\
  forall v r, In (v, r) (residuals D) -> forall x, 0 <= r x.
Hypothesis draws : forall D, valid D -> proper V (descend D) valid.
Hypothesis multiples : forall D, valid D -> forall W, mean (descend D) (fun D' => worth W (nodes D')) =
  over (taken D) (fun v m => total (fun x => m x * total (fun y => p (v ++ [x]) y * W (v ++ [x]) y))).

Fixpoint stops (left : R) (F : level) : program (option stop) :=
  match F with
  | [] => Return None
  | (v, r) :: F =>
      Accept (share (total r) left) (fun accepted =>
        if accepted then Return (Some (v, normalise r)) else stops (left - total r) F)
  end.

Fixpoint layered (levels : nat) (D : drawn) : program (option stop) :=
  match levels with
  | 0 => stops 1 (nodes D)
  | S fewer =>
      bind (bind (descend D) (layered fewer)) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None => stops (1 - mass (taken D)) (residuals D)
        end)
  end.

Lemma over_add : forall F f g, over F (fun v e => f v e + g v e) = over F f + over F g.
Proof. induction F as [|[v e] F IH]; intros; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma over_ext : forall F f g, (forall v e, f v e = g v e) -> over F f = over F g.
Proof. induction F as [|[v e] F IH]; intros f g E; simpl; auto. rewrite (E v e), (IH f g E). auto. Qed.

Lemma mass_nonneg : forall F, (forall v e, In (v, e) F -> forall x, 0 <= e x) -> 0 <= mass F.
Proof.
  induction F as [|[v e] F IH]; intros N; [unfold mass; simpl; lra|].
  assert (0 <= mass F) by (apply IH; intros w r I; apply (N w r); simpl; auto).
  assert (0 <= total e) by (apply total_nonneg, (N v e); simpl; auto). unfold mass in *. simpl. lra.
Qed.

(** What the plan takes and what it leaves are the rows. *)
Lemma taken_and_left : forall D f, length (plan D) = length (nodes D) ->
  (forall v e m, f v (fun x => e x - m x) + f v m = f v e) -> over (residuals D) f + over (taken D) f = over (nodes D) f.
Proof.
  intros D f. unfold residuals, taken. generalize (plan D). induction (nodes D) as [|[v e] F IH]; intros [|m ms] L A;
    try discriminate; simpl; [lra|]. injection L as L. specialize (IH ms L A). rewrite <- (A v e m). lra.
Qed.

Lemma stops_follow : forall G F left, (forall v e, In (v, e) F -> forall x, 0 <= e x) -> mass F <= left ->
  left * mean (stops left F) (emitted_if V G) = worth (fun v x => G (v ++ [x])) F /\
  left * mean (stops left F) rejected = left - mass F.
Proof.
  intros G. induction F as [|[v r] F IH]; intros left N M; [unfold worth, mass; simpl; lra|].
  assert (R : forall x, 0 <= r x) by (apply (N v r); simpl; auto). pose proof (total_nonneg V r R) as T.
  assert (N' : forall w e, In (w, e) F -> forall x, 0 <= e x) by (intros w e I; apply (N w e); simpl; auto).
  pose proof (mass_nonneg F N') as K.
  assert (E : mass ((v, r) :: F) = total r + mass F) by reflexivity. rewrite E in *.
  destruct (IH (left - total r) N' ltac:(lra)) as [I J].
  pose proof (share_of_whole (total r) left ltac:(lra)) as S. set (s := share (total r) left) in *.
  assert (O : total r * total (fun y => normalise r y * G (v ++ [y])) = total (fun y => r y * G (v ++ [y]))).
  { rewrite <- total_mul. apply total_ext_in. intros y Y. destruct (Rle_lt_or_eq_dec _ _ T) as [P|Z].
    - rewrite <- Rmult_assoc, normalise_total; auto.
    - rewrite (total_zero V r R (eq_sym Z) y Y), <- Z. ring. }
  change (worth (fun v x => G (v ++ [x])) ((v, r) :: F))
    with (total (fun y => r y * G (v ++ [y])) + worth (fun v x => G (v ++ [x])) F).
  simpl. fold s. split.
  - transitivity (left * s * total (fun y => normalise r y * G (v ++ [y])) +
      (left - left * s) * mean (stops (left - total r) F) (emitted_if V G)); [ring|]. rewrite S, O, I. ring.
  - transitivity ((left - left * s) * mean (stops (left - total r) F) rejected); [ring|]. rewrite S, J. ring.
Qed.

Theorem layered_follows : forall G, harmonic V p G -> forall n D, valid D ->
  mean (layered n D) (emitted_if V G) = worth (fun v x => G (v ++ [x])) (nodes D) /\
  mean (layered n D) rejected = 1 - mass (nodes D).
Proof.
  intros G HG. set (W := fun v x => G (v ++ [x])). induction n as [|n IH]; intros D H.
  - destruct (stops_follow G (nodes D) 1 (proj1 H) (proj2 H)) as [I J]. unfold W. simpl. lra.
  - destruct (plans D H) as [L N]. simpl. set (later := stops (1 - mass (taken D)) (residuals D)).
    assert (Mass : mass (residuals D) + mass (taken D) = mass (nodes D)).
    { apply taken_and_left; auto. intros v e m. rewrite <- total_add. apply total_ext. intros; ring. }
    assert (Worth : worth W (residuals D) + worth W (taken D) = worth W (nodes D)).
    { apply taken_and_left; auto. intros v e m. rewrite <- total_add. apply total_ext. intros; ring. }
    destruct (stops_follow G (residuals D) (1 - mass (taken D)) N) as [I J]; [destruct H; lra|]. fold later in I, J.
    assert (B : mean (bind (descend D) (layered n)) (emitted_if V G) = worth W (taken D)).
    { rewrite mean_bind, (mean_ext_proper V _ _ _ _ (fun D' => worth W (nodes D')) (draws D H)) by (intros D' H'; apply IH; auto).
      rewrite (multiples D H). apply over_ext. intros v m. apply total_ext. intros x. unfold W.
      rewrite (HG (v ++ [x])). auto. }
    assert (A : mean (bind (descend D) (layered n)) rejected = 1 - mass (taken D)).
    { rewrite mean_bind, (mean_ext_proper V _ _ _ _ (fun D' => 1 - worth (fun _ _ => 1) (nodes D')) (draws D H)).
      - rewrite mean_sub, (mean_const V _ _ _ _ (draws D H)), (multiples D H). f_equal. apply over_ext. intros v m.
        apply total_ext. intros x. rewrite total_mul_right, (proj2 (p_rows (v ++ [x]))). ring.
      - intros D' H'. destruct (IH D' H') as [_ ->]. f_equal. apply over_ext. intros v e. apply total_ext. intros; ring. }
    split.
    + rewrite mean_bind, (mean_ext V _ _ _ (fun found => match found with Some s => emitted_if V G (Some s) | None => mean later (emitted_if V G) end))
        by (intros [s|]; reflexivity).
      rewrite split_emitted, B, A, Rmult_comm, I. exact (eq_trans (Rplus_comm _ _) Worth).
    + rewrite mean_bind, (mean_ext V _ _ _ (fun found => match found with Some s => rejected (Some s) | None => mean later rejected end))
        by (intros [s|]; reflexivity).
      rewrite split_rejected, A, Rmult_comm, J. lra.
Qed.

(** From the root, whose row is the target's. *)
Theorem layered_lossless : forall n c D, nodes D = [(c, p c)] -> lossless_if V p c (layered n D).
Proof.
  intros n c D E. assert (M : mass (nodes D) = 1).
  { rewrite E. unfold mass. simpl. rewrite (proj2 (p_rows c)). ring. }
  assert (H : valid D).
  { split; [rewrite E; intros v e [[= <- <-]|[]]; apply p_rows|lra]. }
  split.
  - intros G HG. destruct (layered_follows G HG n D H) as [-> _]. rewrite E, (HG c). unfold worth. simpl. ring.
  - destruct (layered_follows _ (harmonic_one V p p_rows) n D H) as [_ ->]. lra.
Qed.

End Layered.
