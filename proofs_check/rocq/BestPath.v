(** The best-ranked of several paths, as a verifier finds it in their tree: it is the word [u] if no path is ranked above
    [u], but not all are below (for Multipath.v). *)

Require Import Reals Lra Lia List Arith Bool.
Require Import Programs Rules Numbers Paths.
Import ListNotations RealPrograms.
Open Scope R_scope.

Definition ind (b : bool) : R := if b then 1 else 0.

Section Best.
Variable ranked : context -> list token.
Hypothesis distinct : forall c, NoDup (ranked c).
Notation best_path := (best_path ranked).

Definition rank (x : token) (order : list token) : nat := length (before x order).
Definition lower (c : context) (x y : token) : bool := (rank x (ranked c) <? rank y (ranked c))%nat.

(** Whether the path is ranked below [u]; for [u] itself, [tie]. *)
Fixpoint under (tie : bool) (u path : list token) (c : context) : bool :=
  match u, path with
  | x :: u, y :: path => lower c y x || ((y =? x)%nat && under tie u path (c ++ [x]))
  | _, _ => tie
  end.

Definition all_under (tie : bool) (u : list token) (c : context) (paths : list (list token)) : bool :=
  forallb (fun path => under tie u path c) paths.

Fixpoint same (u v : list token) : bool :=
  match u, v with [], [] => true | x :: u, y :: v => (x =? y)%nat && same u v | _, _ => false end.

(** A path of [n] tokens that the ranking knows. *)
Fixpoint ranks (n : nat) (path : list token) (c : context) : Prop :=
  match n, path with
  | O, [] => True
  | S n, x :: path => In x (ranked c) /\ ranks n path (c ++ [x])
  | _, _ => False
  end.

Lemma rank_known : forall order x, In x order -> (rank x order < length order)%nat.
Proof.
  unfold rank. induction order as [|y order IH]; simpl; intros x I; [contradiction|].
  destruct (Nat.eqb_spec y x) as [->|N]; simpl; [lia|]. destruct I as [|I]; [congruence|]. specialize (IH x I). lia.
Qed.

Lemma rank_same : forall order x y, In x order -> rank x order = rank y order -> x = y.
Proof.
  unfold rank. induction order as [|z order IH]; simpl; intros x y I E; [contradiction|].
  destruct (Nat.eqb_spec z x) as [A|N], (Nat.eqb_spec z y) as [B|M]; simpl in E; try lia.
  apply IH; [|lia]. destruct I; [congruence|auto].
Qed.

Lemma rank_snoc : forall order x z, In x order -> rank x (order ++ [z]) = rank x order.
Proof.
  unfold rank. induction order as [|y order IH]; simpl; intros x z I; [contradiction|].
  destruct (Nat.eqb_spec y x) as [->|N]; auto. simpl. f_equal. apply IH. destruct I; congruence.
Qed.

Lemma rank_last : forall order z, ~ In z order -> rank z (order ++ [z]) = length order.
Proof.
  unfold rank. induction order as [|y order IH]; simpl; intros z N; [rewrite Nat.eqb_refl; auto|].
  destruct (Nat.eqb_spec y z) as [->|M]; [tauto|]. simpl. f_equal. apply IH. tauto.
Qed.

Lemma before_rank : forall order x y, In x (before y order) <-> (rank x order < rank y order)%nat.
Proof.
  unfold rank. induction order as [|z order IH]; simpl; intros x y; [split; [tauto|lia]|].
  destruct (Nat.eqb_spec z y) as [A|M], (Nat.eqb_spec z x) as [B|N]; simpl.
  - split; [tauto|lia].
  - split; [tauto|lia].
  - split; [lia|auto].
  - rewrite <- Nat.succ_lt_mono, <- IH. split; [intros [|]; [congruence|auto]|auto].
Qed.

Lemma before_known : forall order x y, In x (before y order) -> In x order.
Proof.
  induction order as [|z order IH]; simpl; intros x y; auto. destruct (z =? y)%nat; simpl; [tauto|]. intros [|I]; eauto.
Qed.

Lemma before_distinct : forall order x, NoDup order -> NoDup (before x order).
Proof.
  induction order as [|y order IH]; simpl; intros x N; auto. inversion N; subst.
  destruct (y =? x)%nat; constructor; auto. intros I. apply before_known in I. auto.
Qed.

(** The best child is a child, and none is ranked above it. *)
Lemma best_child_is : forall siblings best, child_below (fst best) siblings = Some (snd best) ->
  forall order, NoDup order -> let found := best_child order siblings best in
  child_below (fst found) siblings = Some (snd found) /\
  forall y, In y order -> child_below y siblings <> None -> In (fst found) order /\ (rank y order <= rank (fst found)
    order)%nat.
Proof.
  intros siblings best B.
  assert (Last : forall order x best, best_child (order ++ [x]) siblings best =
    match child_below x siblings with Some below => (x, below) | None => best_child order siblings best end).
  { induction order as [|y order IH]; intros x b; simpl; auto. }
  induction order as [|z order IH] using rev_ind; intros N; simpl; [split; auto; contradiction|].
  rewrite Last. assert (N' : NoDup order /\ ~ In z order).
  { apply NoDup_remove in N. rewrite app_nil_r in N. auto. }
  destruct N' as [N' Z]. destruct (IH N') as [C M]. destruct (child_below z siblings) as [below|] eqn:E; simpl.
  - split; auto. intros y I _. split; [apply in_or_app; simpl; auto|]. rewrite (rank_last order z Z).
    apply in_app_or in I. destruct I as [I|[->|[]]]; [|rewrite rank_last; auto].
    rewrite rank_snoc by auto. apply Nat.lt_le_incl, rank_known. auto.
  - split; auto. intros y I D. apply in_app_or in I. destruct I as [I|[->|[]]]; [|congruence].
    destruct (M y I D) as [J L]. split; [apply in_or_app; auto|]. rewrite !rank_snoc; auto.
Qed.

Lemma child_merged : forall x paths, child_below x (merged paths) =
  match tails x paths with [] => None | _ => Some (merged (tails x paths)) end.
Proof.
  assert (O : forall x y paths, x <> y -> tails y (others x paths) = tails y paths).
  { intros x y. induction paths as [|[|z path] paths IH]; simpl; intros N; auto.
    destruct (Nat.eqb_spec z x) as [->|M]; simpl; [|rewrite IH; auto]. destruct (Nat.eqb_spec x y); [congruence|auto]. }
  assert (S : forall x paths, (length (others x paths) <= length paths)%nat).
  { intros x. induction paths as [|[|z path] paths IH]; simpl; try lia. destruct (z =? x)%nat; simpl; lia. }
  intros x paths. remember (length paths) as n eqn:L. assert (L' : (length paths <= n)%nat) by lia. clear L.
  revert paths L'.
  induction n as [|n IH]; intros [|[|y path] paths] L; simpl in L; try lia; try reflexivity.
  - change (merged ([] :: paths)) with (merged paths). apply (IH paths). lia.
  - rewrite merged_first. simpl. destruct (Nat.eqb_spec y x) as [->|N]; auto.
    rewrite IH by (specialize (S y paths); lia). rewrite O; auto.
Qed.

Lemma tails_in : forall x path paths, In path (tails x paths) <-> In (x :: path) paths.
Proof.
  intros x path. induction paths as [|[|z rest] paths IH]; simpl; [tauto| |].
  - rewrite IH. split; [auto|intros [E|I]; [discriminate|auto]].
  - destruct (Nat.eqb_spec z x) as [->|N]; simpl; rewrite IH.
    + split; (intros [E|I]; [left; congruence|auto]).
    + split; [auto|intros [E|I]; [congruence|auto]].
Qed.

Section Some.
Variable n : nat.
Variable c : context.
Variable paths : list (list token).
Hypothesis some : paths <> [].
Hypothesis known : Forall (fun path => ranks (S n) path c) paths.

(** The first token of the best path. *)
Lemma best_first : exists x, In x (ranked c) /\ tails x paths <> [] /\
  Forall (fun path => ranks n path (c ++ [x])) (tails x paths) /\
  (forall z path, In (z :: path) paths -> In z (ranked c) /\ (rank z (ranked c) <= rank x (ranked c))%nat) /\
  best_path (S n) (merged paths) c = x :: best_path n (merged (tails x paths)) (c ++ [x]).
Proof.
  assert (K : forall x path, In (x :: path) paths -> In x (ranked c) /\ ranks n path (c ++ [x])).
  { intros x path I. rewrite Forall_forall in known. apply (known _ I). }
  destruct paths as [|[|z path] more] eqn:P; [contradiction|inversion known as [|? ? F]; contradiction|]. rewrite <- P in *.
  set (siblings := merged paths). set (first := (z, merged (path :: tails z more))).
  assert (B : child_below (fst first) siblings = Some (snd first)).
  { unfold siblings, first. rewrite P, merged_first. simpl. rewrite Nat.eqb_refl. auto. }
  destruct (best_child_is siblings first B (ranked c) (distinct c)) as [C M].
  destruct (best_child (ranked c) siblings first) as [x below] eqn:E. simpl in C, M. exists x.
  unfold siblings in C. rewrite child_merged in C.
  assert (T : tails x paths <> [] /\ below = merged (tails x paths)) by (destruct (tails x paths); [discriminate|split;
    congruence]).
  destruct T as [T Eb]. split.
  { destruct (tails x paths) as [|rest l] eqn:Q; [contradiction|]. apply (K x rest), tails_in. rewrite Q. simpl. auto. }
  split; auto. split; [apply Forall_forall; intros rest I; apply (K x rest), tails_in; auto|]. split.
  - intros y rest I. split; [apply (K y rest I)|]. apply M; [apply (K y rest I)|]. unfold siblings. rewrite child_merged.
    apply tails_in in I.
    destruct (tails y paths); [contradiction|discriminate].
  - rewrite <- Eb. replace (merged paths) with siblings by auto. unfold first in E. revert E. unfold siblings.
    rewrite P, merged_first. intros E. simpl in *. rewrite E. auto.
Qed.

End Some.

Lemma best_in : forall n c paths, paths <> [] -> Forall (fun path => ranks n path c) paths ->
  In (best_path n (merged paths) c) paths.
Proof.
  induction n as [|n IH]; intros c paths N F.
  - destruct paths as [|path paths]; [contradiction|]. inversion F as [|? ? R]; subst.
    destruct path; [simpl; auto|contradiction].
  - destruct (best_first n c paths N F) as [x [_ [T [R [_ ->]]]]]. apply tails_in, IH; auto.
Qed.

(** It is [u] if no path is ranked above [u], but not all are below. *)
Lemma best_is : forall n u c paths, length u = n -> paths <> [] -> Forall (fun path => ranks n path c) paths ->
  ind (same (best_path n (merged paths) c) u) = ind (all_under true u c paths) - ind (all_under false u c paths).
Proof.
  induction n as [|n IH]; intros [|y u] c paths L N F; try discriminate.
  - destruct paths as [|path paths]; [contradiction|]. unfold all_under. simpl.
    rewrite (proj2 (forallb_forall _ paths)) by auto. simpl. lra.
  - injection L as L. destruct (best_first n c paths N F) as [x [I [T [R [M ->]]]]].
    assert (S : forall path, In path paths -> exists z rest, path = z :: rest).
    { rewrite Forall_forall in F. intros [|z rest] J; [destruct (F _ J)|eauto]. }
    assert (Top : exists rest, In (x :: rest) paths).
    { destruct (tails x paths) as [|rest l] eqn:Q; [contradiction|]. exists rest. apply tails_in. rewrite Q. simpl. auto. }
    cbn [same]. destruct (Nat.eqb_spec x y) as [<-|D]; simpl andb.
    + rewrite (IH u (c ++ [x]) (tails x paths) L T R).
      assert (A : forall tie, all_under tie u (c ++ [x]) (tails x paths) = all_under tie (x :: u) c paths).
      { intros tie. clear - S M. unfold all_under. induction paths as [|path more IH]; auto.
        destruct (S path) as [z [rest ->]]; [simpl; auto|]. cbn [forallb tails].
        rewrite <- IH; [|intros y path J; apply (M y path); simpl; auto|intros path J; apply S; simpl; auto].
        destruct (M z rest) as [Iz Z]; [simpl; auto|]. cbn [under forallb].
        unfold lower at 1. destruct (Nat.eqb_spec z x) as [->|D]; simpl; [rewrite Nat.ltb_irrefl; auto|].
        destruct (Nat.ltb_spec (rank z (ranked c)) (rank x (ranked c))); auto.
        exfalso. apply D, (rank_same (ranked c)); auto. lia. }
      rewrite !A. auto.
    + assert (E : rank x (ranked c) <> rank y (ranked c)) by (intros E; apply D, (rank_same (ranked c)); auto).
      assert (A : forall tie, all_under tie (y :: u) c paths = (rank x (ranked c) <? rank y (ranked c))%nat).
      { intros tie. unfold all_under. destruct (Nat.ltb_spec (rank x (ranked c)) (rank y (ranked c))) as [Lt|Ge].
        - apply forallb_forall. intros path J. destruct (S path J) as [z [rest ->]]. simpl.
          apply orb_true_intro. left. apply Nat.ltb_lt. destruct (M z rest J). lia.
        - destruct Top as [rest J]. apply not_true_is_false. intros A. rewrite forallb_forall in A. specialize (A _ J).
          simpl in A.
          unfold lower in A. destruct (Nat.ltb_spec (rank x (ranked c)) (rank y (ranked c))); [lia|].
          destruct (Nat.eqb_spec x y); [contradiction|discriminate]. }
      rewrite !A. simpl. lra.
Qed.

End Best.
