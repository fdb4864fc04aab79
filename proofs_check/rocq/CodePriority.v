(** The priority rule as Code.v has it from the Python, on trees drawn with replacement: it is the program of Rules.v,
    of which the theorems are proved.  What it plans is a definition of Python.v. *)

Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code CodeFacts.
Import ListNotations RealPrograms.

Section CodePriority.
Variable V : nat.
Variables p q at_leaf : context -> row.
Notation node_at := (node_at q at_leaf).
Notation nodes := (nodes q at_leaf).
Notation drafted := (drafted q at_leaf).

(** Every node's siblings are drawn from its own row. *)
Definition alike (c : context) (k : nat) : list row := repeat (q c) k.

(** The draft has the shape. *)
Fixpoint fits (s : shape) (d : children) : Prop :=
  match s, d with
  | NoShape, NoChild => True
  | Shape b r, Child _ b' r' => fits b b' /\ fits r r'
  | _, _ => False
  end.

Lemma fits_count : forall s d c, fits s d -> length (nodes d c) = count s.
Proof.
  induction s as [|b _ r IH]; intros [|x b' r'] c F; simpl in F; try contradiction; auto.
  rewrite nodes_child. simpl. rewrite IH; tauto.
Qed.

(** ** The judging of one node *)

Section Judging.
Variable enter : Node -> program (option Stop).
Variable go : nat -> program stop.
Variable rejected : program (option Stop).
Variable other : program stop.
Hypothesis rejected_code : shown rejected = always_stops other.

Definition next (kept : option nat) : program stop := match kept with Some j => go j | None => other end.

Fixpoint judging (items : list (Node * R)) : program (option Stop) :=
  match items with
  | [] => rejected
  | (child, rate) :: items => Accept rate (fun kept => if kept then enter child else judging items)
  end.

Lemma judging_token : forall x rest otherwise rates kids tokens j,
  Forall2 (fun child y => token_of child = Some y) kids tokens ->
  (forall i child, nth_error kids i = Some child -> shown (enter child) = always_stops (go (j + i)%nat)) ->
  shown (judging rest) = always_stops (bind otherwise next) ->
  shown (judging (judged_at x kids rates ++ rest)) =
  always_stops (bind (judge_token x rates tokens j otherwise) next).
Proof.
  intros x rest otherwise. induction rates as [|rate rates IH]; intros kids tokens j F G O.
  - unfold judged_at. destruct F; exact O.
  - destruct F as [|child y kids tokens T F]; [exact O|].
    assert (G' : forall i k, nth_error kids i = Some k -> shown (enter k) = always_stops (go (S j + i)%nat)).
    { intros i k E. replace (S j + i)%nat with (j + S i)%nat by lia. apply (G (S i)). exact E. }
    specialize (IH kids tokens (S j) F G' O). unfold judged_at in *. cbn [combine filter fst judge_token].
    unfold has_token at 1. rewrite T, Nat.eqb_sym. destruct (x =? y)%nat; [|exact IH].
    cbn [app judging bind]. apply Accept_ext; [|exact IH].
    pose proof (G 0%nat child eq_refl) as E. rewrite Nat.add_0_r in E. exact E.
Qed.

Lemma judging_steps : forall kids tokens, Forall2 (fun child y => token_of child = Some y) kids tokens ->
  (forall i child, nth_error kids i = Some child -> shown (enter child) = always_stops (go i)) ->
  forall steps, shown (judging (flat_map (fun step => judged_at (fst step) kids (snd step)) steps)) =
  always_stops (bind (judge steps tokens) next).
Proof.
  intros kids tokens F G. induction steps as [|[x rates] steps IH]; [exact rejected_code|].
  apply (judging_token x _ (judge steps tokens) rates kids tokens 0 F); auto.
Qed.

End Judging.

Lemma nodes_tokens : forall d c, Forall2 (fun child y => token_of child = Some y) (nodes d c) (tokens_of d).
Proof.
  induction d as [|x b _ r IH]; intros c; [apply Forall2_nil|]. rewrite nodes_child. apply Forall2_cons; auto.
  apply token_at.
Qed.

(** The child with a number, and what is done there. *)
Lemma kept_node : forall (P : Node -> program stop -> Prop) c s d,
  fits s d ->
  (forall b b' c', fits b b' -> (size b' < size d)%nat -> P (node_at b' c') (priority V p alike b b' c')) ->
  forall j child, nth_error (nodes d c) j = Some child -> P child (kept_child V p alike s d c j).
Proof.
  intros P c. induction s as [|b _ r IH]; intros [|x b' r'] F H j child E; simpl in F; try contradiction.
  - destruct j; discriminate.
  - destruct F as [Fb Fr]. rewrite nodes_child in E. destruct j as [|j]; simpl in E.
    + injection E as <-. apply H; auto. simpl. pose proof (size_positive r'). lia.
    + apply (IH r' Fr); auto. intros b1 b2 c' F1 L. apply H; auto. simpl. lia.
Qed.

Theorem priority_code : forall replacement fuel s d c, fits s d -> (size d <= fuel)%nat ->
  shown (priority.verify V fuel (drafted replacement d c) p) = always_stops (priority V p alike s d c).
Proof.
  intros replacement rounds s' d' c'. unfold priority.verify, CodeFacts.drafted. cbn [root_of].
  match goal with |- _ -> _ -> shown (?loop _ _) = _ => set (L := loop) end.
  revert rounds. assert (H : forall fuel s d c, fits s d -> (size d <= fuel)%nat ->
    shown (L fuel (node_at d c)) = always_stops (priority V p alike s d c)); [|intros; apply H; auto].
  induction fuel as [|fuel IH]; intros s d c F Z; [pose proof (size_positive d); lia|].
  destruct s as [|b r], d as [|x b2 r2]; simpl in F; try contradiction; [reflexivity|].
  set (d := Child x b2 r2) in *. set (s := Shape b r) in *. assert (F' : fits s d) by exact F.
  unfold L, RealPrograms.node_at. cbn -[RealPrograms.nodes planned_at judged_of left_of priority s].
  change (nonempty (nodes d c)) with true. cbn iota.
  match goal with |- shown (?each _ ?n) = _ => set (E := fun items => each items n) end.
  set (plan := planned_at V _ _ _) in *.
  assert (J : forall items, E items = judging (L fuel) (done (MakeNode c (q c) (nodes d c), normalise V (left_of plan))) items).
  { induction items as [|[child rate] items IHi]; [reflexivity|]. apply Accept_ext; [reflexivity|exact IHi]. }
  change (shown (E (judged_of plan (MakeNode c (q c) (nodes d c)))) = always_stops (priority V p alike s d c)). rewrite J.
  set (found := planned (by_ratio V) (repeat (q c) (count s)) (p c)).
  assert (A : steps_of plan = fst found /\ left_of plan = snd found).
  { unfold plan, planned_at. cbn [proposal_of children_of]. rewrite (fits_count s d c F'). split; reflexivity. }
  destruct A as [A1 A2]. unfold judged_of. cbn [children_of]. rewrite A1.
  rewrite (judging_steps (L fuel) (kept_child V p alike s d c) _ (Return (c, normalise V (snd found)))
    (eq_trans (f_equal (fun r => shown (done (MakeNode c (q c) (nodes d c), normalise V r))) A2) eq_refl)
    (nodes d c) (tokens_of d) (nodes_tokens d c)).
  - reflexivity.
  - intros i child E'.
    apply (kept_node (fun child m => shown (L fuel child) = always_stops m) c s d F') in E'; auto.
    intros b' d'' c'' F'' Z'. apply IH; auto. lia.
Qed.

End CodePriority.
