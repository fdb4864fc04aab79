(** What it means that the checker accepts, for any numbers that are a commutative ring with a decided equality. *)

Require Import String List Arith Bool Lia Ring_theory Ring.
Require Import Certificate Lines.
Import ListNotations.

Module Type RING.
  Include NUMBER.
  Axiom ring : ring_theory zero one add mul sub (sub zero) (@eq t).
  Axiom equal_spec : forall x y, equal x y = true <-> x = y.
End RING.

Module Sound (R : RING).
Module L := Lines.Checker R.
Import R L L.C.
Add Ring numbers : ring.

Section Verification.
Variable P : verification -> Prop.
Hypothesis branch : forall l, Forall (fun b => P (snd b)) l -> P (Branch l).
Hypothesis stop : forall c extra, P (Stop c extra).
Hypothesis again : forall c l, Forall P l -> P (Again c l).
Fixpoint verification_all (k : verification) : P k :=
  match k with
  | Branch l => branch l ((fix all l : Forall (fun b => P (snd b)) l :=
      match l with
      | [] => Forall_nil _
      | b :: l => Forall_cons b (verification_all (snd b)) (all l)
      end) l)
  | Stop c extra => stop c extra
  | Again c l => again c l ((fix all l : Forall P l :=
      match l with
      | [] => Forall_nil _
      | k :: l => Forall_cons k (verification_all k) (all l)
      end) l)
  end.
End Verification.

Lemma sum_app : forall l m, sum (l ++ m) = add (sum l) (sum m).
Proof. induction l as [|x l IH]; intros m; simpl; [|rewrite IH]; ring. Qed.

(** Every context has a row that is a distribution. *)
Lemma row_of_is_row : forall V T c, is_table V T = true -> is_row V (row_of T c) = true.
Proof.
  intros V T c H. apply andb_prop in H as [H E]. rewrite forallb_forall in H.
  assert (F : forall d r, find T d = Some r -> is_row V r = true).
  { clear E. intros d r. induction T as [|[e s] T IH]; simpl; [discriminate|]. destruct (same d e).
    - intros [= <-]. exact (H (e, s) (or_introl eq_refl)).
    - apply IH. intros x I. apply H. right. auto. }
  induction c as [|x c IH]; simpl.
  - destruct (find T []) eqn:G; [eauto|discriminate E].
  - destruct (find T (x :: c)) eqn:G; eauto.
Qed.

Section Law.
Variables (V : nat) (once : bool) (D : context -> law draft).
Notation sampler := (sampler V once D).
Notation endings := (endings D).

(** A draft keeps its probability: its endings have it together. *)
Lemma endings_mass : forall k d w, sampler d k = true -> sum (map fst (endings w k)) = w.
Proof.
  induction k as [l IH|c extra|c l IH] using verification_all; simpl; intros d w H; [|ring|].
  - apply andb_prop in H as [D' H]. apply andb_prop in D' as [_ D']. apply equal_spec in D'.
    transitivity (mul w (sum (map fst l))); [|rewrite D'; ring]. clear D'.
    induction l as [|[m k] l IHl]; simpl in *; [ring|]. apply andb_prop in H as [H1 H2].
    inversion IH as [|? ? IHk IHrest]; subst. specialize (IHk d (mul w m) H1). specialize (IHl IHrest H2).
    simpl in IHk. unfold ending in *. rewrite map_app, sum_app, IHk, IHl. ring.
  - apply andb_prop in H as [D' H]. apply andb_prop in D' as [_ D']. apply andb_prop in D' as [_ D'].
    apply equal_spec in D'. transitivity (mul w (sum (map fst (D c)))); [|rewrite D'; ring]. clear D'.
    revert H. generalize (D c) as ds. induction l as [|k l IHl]; intros [|[v e] ds] H; simpl in *; try discriminate;
      [ring|]. apply andb_prop in H as [H1 H2].
    inversion IH as [|? ? IHk IHrest]; subst. specialize (IHk e (mul w v) H1). specialize (IHl IHrest ds H2).
    unfold ending in *. rewrite map_app, sum_app, IHk, IHl. ring.
Qed.

End Law.

Section Target.
Variable p : context -> row.

Lemma mass_step : forall c x u l,
  mass p l c (x :: u) =
  add (mass p (below x l) (c ++ [x]) u)
    (mul (add (mul (following l) (at_token (p c) x)) (added l x)) (follows p (c ++ [x]) u)).
Proof.
  intros c x u. unfold mass, following, added.
  induction l as [|[w [[|y d] extra]] l IH]; [simpl; ring| |]; simpl in *.
  - rewrite IH. destruct extra; ring.
  - rewrite IH. destruct (x =? y); simpl; ring.
Qed.

Lemma right_sound : forall V fuel c l here want, right p V fuel c l here want = true ->
  forall u, fuel <= length u -> Forall (fun x => x < V) u ->
  add (mass p l c u) (mul here (follows p c u)) = mul want (follows p c u).
Proof.
  intros V. induction fuel as [|fuel IH]; intros c l here want H u L T.
  - destruct l; [|discriminate]. apply equal_spec in H. subst. unfold mass. simpl. ring.
  - destruct l as [|e l].
    + apply equal_spec in H. subst. unfold mass. simpl. ring.
    + destruct u as [|x u]; [simpl in L; lia|]. inversion T; subst.
      cbn [right] in H. rewrite forallb_forall in H. rewrite mass_step. cbn [follows].
      specialize (IH _ _ _ _ (H x ltac:(apply in_seq; lia)) u ltac:(simpl in L; lia) ltac:(auto)).
      etransitivity; [|etransitivity; [exact IH|]]; ring.
Qed.
End Target.

(** ** The theorem

    If the instance is sound and the checker accepts, every first draft has a verification, and each is a sampler;
    in a single call it stops at drafted nodes, with the mean claimed.  The verdict holds of the law of the text that
    is drawn so: a draft with its probability, the branches of its verification, the row of the next token (or the
    next draft), then the target.  The law is the target's: every word of more than [longest] tokens has the
    target's probability (those of shorter ones are sums of these).  Or it is not: the word named has another. *)
Definition holds (I : instance) (K : certificate) : Prop :=
  let p := row_of (target I) in
  let l := decoding (drafted I) (drafted I []) (verified K) in
  (forall c, is_row (vocab I) (p c) = true) /\
  Forall2 (fun wd k => sampler (vocab I) (calls K =? 0) (drafted I) (snd wd) k = true) (drafted I []) (verified K) /\
  sum (map fst l) = one /\
  match tau K with Some mean => calls K = 0 /\ accepted l = mean | None => True end /\
  match found K with
  | Lossless => forall u, longest I K < length u -> Forall (fun x => x < vocab I) u ->
      mass p l [] u = follows p [] u
  | Wrong u got want => (calls K = 0 \/ length u <= longest I K) /\
      mass p l [] u = got /\ follows p [] u = want /\ got <> want
  end.

Theorem check_sound : forall I K, sound_instance I = true -> check I (drafted I []) K = true -> holds I K.
Proof.
  intros I K S H. unfold holds.
  set (p := row_of (target I)). set (l := decoding _ _ _). apply andb_prop in S as [S _].
  unfold check in H. apply andb_prop in H as [K1 H]. apply andb_prop in H as [A H]. fold l in A, H.
  apply andb_prop in K1 as [D K1]. apply andb_prop in D as [_ D]. apply equal_spec in D.
  split; [intros; apply row_of_is_row; auto|]. split; [|split; [|split]].
  - clear -K1. revert K1. generalize (drafted I []) as ds. induction (verified K) as [|k ks IH];
      intros [|[w d] ds] K1; simpl in K1; try discriminate; auto. apply andb_prop in K1 as [K1 K2].
    constructor; auto.
  - unfold l. rewrite <- D. clear -K1. revert K1. generalize (drafted I []) as ds.
    induction (verified K) as [|k ks IH]; intros [|[w d] ds] K1; simpl in *; try discriminate; auto.
    apply andb_prop in K1 as [K1 K2]. pose proof (endings_mass _ _ _ _ _ w K1) as E. unfold ending in *.
    rewrite map_app, sum_app, E, IH; auto.
  - destruct (tau K); auto. apply andb_prop in A as [A1 A2]. apply Nat.eqb_eq in A1. apply equal_spec in A2. auto.
  - unfold verdict_holds in H. destruct (found K) as [|u got want].
    + intros u L T. pose proof (right_sound p _ _ _ _ _ _ H u L T) as E.
      transitivity (add (mass p l [] u) (mul zero (follows p [] u))); [ring|].
      etransitivity; [exact E|ring].
    + apply andb_prop in H as [H N]. apply andb_prop in H as [G W]. apply andb_prop in G as [L G].
      apply orb_true_iff in L. rewrite Nat.eqb_eq, Nat.leb_le in L. apply equal_spec in G, W. repeat split; auto. intros ->. apply negb_true_iff in N.
      assert (equal want want = true) by (apply equal_spec; auto). congruence.
Qed.

(** Of a file: every law that is accepted holds of the instance read last before it. *)
Definition kept (now : option current) : Prop :=
  match now with Some i => sound_instance (which i) = true /\ firsts i = drafted (which i) [] | None => True end.

Theorem line_sound : forall now v next o, kept now -> line now v = (next, o) ->
  kept next /\
  match o with
  | Begun i => instance_of v = Some i /\ next = Some (Current i (drafted i []))
  | Accepted K => certificate_of v = Some K /\ next = now /\ exists i, now = Some i /\ holds (which i) K
  | Refused => True
  end.
Proof.
  intros now v next o N E. unfold line in E. destruct (get "vocab"%string v).
  - destruct (instance_of v) as [I|]; [|injection E as <- <-; simpl; auto].
    destruct (sound_instance I) eqn:S; injection E as <- <-; simpl; auto.
  - destruct now as [i|]; [|injection E as <- <-; auto].
    destruct (certificate_of v) as [K|]; [|injection E as <- <-; auto].
    destruct (check (which i) (firsts i) K) eqn:H; injection E as <- <-; [|auto].
    destruct N as [S F]. split; [split; auto|]. split; auto. split; auto. exists i. split; auto.
    apply check_sound; auto. rewrite <- F. auto.
Qed.

End Sound.

(** The theorem is of something: canonical rationals are such numbers. *)
Require Import QArith Qcanon.
Module Rationals <: RING.
  Definition t := Qc.
  Definition zero := 0%Qc.
  Definition one := 1%Qc.
  Definition add := Qcplus.
  Definition sub := Qcminus.
  Definition mul := Qcmult.
  Definition div := Qcdiv.
  Definition equal (x y : Qc) := Qeq_bool x y.
  Definition less (x y : Qc) := negb (Qle_bool y x).
  Lemma ring : ring_theory zero one add mul sub (sub zero) (@eq t).
  Proof.
    constructor; intros; unfold zero, one, add, mul, sub, t in *; ring.
  Qed.
  Lemma equal_spec : forall x y, equal x y = true <-> x = y.
  Proof.
    intros x y. unfold equal. rewrite Qeq_bool_iff. split; [apply Qc_is_canon|intros ->; reflexivity].
  Qed.
End Rationals.
Module Proved := Sound Rationals.
Print Assumptions Proved.line_sound.
