(** The most that can be sent along the edges between two kinds of nodes with capacities is the least capacity of
    nodes that cover all edges. *)

Require Import Reals Lra List Arith Bool.
Import ListNotations.
Open Scope R_scope.

Section MaxFlow.
Definition edge := (nat * nat)%type.
Variables left right : list nat.
Hypothesis left_once : NoDup left.
Hypothesis right_once : NoDup right.

Definition set (a : nat -> R) (i : nat) (v : R) : nat -> R := fun j => if (j =? i)%nat then v else a j.
Definition join (S : nat -> bool) (i : nat) : nat -> bool := fun j => (j =? i)%nat || S j.

(** The capacity of the nodes of a set. *)
Definition weight (l : list nat) (S : nat -> bool) (a : nat -> R) : R :=
  fold_right (fun i sum => (if S i then a i else 0) + sum) 0 l.
Definition cost (S T : nat -> bool) (a b : nat -> R) : R := weight left S a + weight right T b.

Definition covers (S T : nat -> bool) (E : list edge) : Prop :=
  forall e, In e E -> S (fst e) = true \/ T (snd e) = true.

(** What a node sends or gets, one amount for each edge. *)
Fixpoint through (side : edge -> nat) (E : list edge) (f : list R) (i : nat) : R :=
  match E, f with
  | e :: E, v :: f => (if (side e =? i)%nat then v else 0) + through side E f i
  | _, _ => 0
  end.
Definition value (f : list R) : R := fold_right Rplus 0 f.

Definition flow (a b : nat -> R) (E : list edge) (f : list R) : Prop :=
  length f = length E /\ (forall v, In v f -> 0 <= v) /\
  (forall i, through fst E f i <= a i) /\ (forall x, through snd E f x <= b x).

Definition known (E : list edge) : Prop := forall e, In e E -> In (fst e) left /\ In (snd e) right.

Lemma weight_add : forall l S u v, weight l S (fun i => u i + v i) = weight l S u + weight l S v.
Proof. induction l as [|i l IH]; simpl; intros; [lra|]. rewrite IH. destruct (S i); lra. Qed.

Lemma weight_le : forall l S u v, (forall i, u i <= v i) -> weight l S u <= weight l S v.
Proof. induction l as [|i l IH]; simpl; intros S u v H; [lra|]. specialize (IH S u v H). specialize (H i). destruct (S i); lra. Qed.

Lemma weight_nonneg : forall l S u, (forall i, 0 <= u i) -> 0 <= weight l S u.
Proof. induction l as [|i l IH]; simpl; intros S u H; [lra|]. specialize (IH S u H). specialize (H i). destruct (S i); lra. Qed.

Lemma weight_ext : forall l S u v, (forall i, In i l -> u i = v i) -> weight l S u = weight l S v.
Proof. induction l as [|i l IH]; simpl; intros S u v H; auto. rewrite (IH S u v), (H i) by auto. auto. Qed.

Lemma weight_single : forall l S k v, NoDup l -> In k l ->
  weight l S (fun i => if (k =? i)%nat then v else 0) = if S k then v else 0.
Proof.
  induction l as [|i l IH]; simpl; intros S k v N I; [contradiction|]. inversion N as [|? ? X N']; subst.
  destruct (Nat.eqb_spec k i) as [->|D].
  - rewrite (weight_ext l S _ (fun _ => 0 * 0)); [|intros j J; destruct (Nat.eqb_spec i j); [subst; contradiction|lra]].
    assert (Z : forall m, weight m S (fun _ => 0 * 0) = 0) by (induction m as [|j m IHm]; simpl; auto; rewrite IHm; destruct (S j); lra).
    rewrite Z. destruct (S i); lra.
  - rewrite IH; auto; [|destruct I; [congruence|auto]]. destruct (S i), (S k); lra.
Qed.

Lemma weight_set : forall l S a i v, NoDup l -> In i l ->
  weight l S (set a i v) = weight l S a + if S i then v - a i else 0.
Proof.
  intros l S a i v N I. rewrite <- (weight_single l S i (v - a i) N I), <- weight_add. apply weight_ext. intros j _.
  unfold set. rewrite (Nat.eqb_sym i j). destruct (Nat.eqb_spec j i); subst; lra.
Qed.

Lemma weight_join : forall l S a i, a i = 0 -> weight l (join S i) a = weight l S a.
Proof.
  induction l as [|j l IH]; simpl; intros S a i Z; auto. rewrite IH by auto. unfold join.
  destruct (Nat.eqb_spec j i); subst; simpl; [rewrite Z; destruct (S i)|]; lra.
Qed.

Lemma weight_lattice : forall l S T a,
  weight l S a + weight l T a = weight l (fun i => S i && T i) a + weight l (fun i => S i || T i) a.
Proof. induction l as [|i l IH]; simpl; intros S T a; [lra|]. specialize (IH S T a). destruct (S i), (T i); simpl; lra. Qed.

(** No flow sends more than the capacity of a cover. *)
Lemma at_most : forall E a b f S T, known E -> flow a b E f -> covers S T E -> value f <= cost S T a b.
Proof.
  intros E a b f S T K (L & N & A & B) C.
  apply Rle_trans with (weight left S (through fst E f) + weight right T (through snd E f));
    [|unfold cost; pose proof (weight_le left S _ _ A); pose proof (weight_le right T _ _ B); lra].
  clear A B. revert f L N. induction E as [|e E IH]; intros [|v f] L N; simpl in *; try discriminate.
  - pose proof (weight_nonneg left S (fun _ => 0) ltac:(intros; lra)).
    pose proof (weight_nonneg right T (fun _ => 0) ltac:(intros; lra)).
    change (through fst [] []) with (fun _ : nat => 0). change (through snd [] []) with (fun _ : nat => 0). lra.
  - destruct (K e) as [I J]; simpl; auto.
    change (weight left S (through fst (e :: E) (v :: f))) with
      (weight left S (fun i => (if (fst e =? i)%nat then v else 0) + through fst E f i)).
    change (weight right T (through snd (e :: E) (v :: f))) with
      (weight right T (fun i => (if (snd e =? i)%nat then v else 0) + through snd E f i)).
    rewrite !weight_add, !weight_single by auto.
    assert (V : 0 <= v) by (apply N; auto).
    assert (Q : value f <= weight left S (through fst E f) + weight right T (through snd E f)).
    { apply IH; try (intros ? ?; apply K || apply C; simpl; auto); auto. }
    destruct (C e ltac:(simpl; auto)) as [-> | ->]; [destruct (T (snd e))|destruct (S (fst e))]; lra.
Qed.

Lemma set_nonneg : forall a i v, (forall j, 0 <= a j) -> 0 <= v -> forall j, 0 <= set a i v j.
Proof. intros a i v A V j. unfold set. destruct (j =? i)%nat; auto. Qed.

Theorem max_flow : forall E, known E -> forall a b, (forall i, 0 <= a i) -> (forall x, 0 <= b x) ->
  exists f S T, flow a b E f /\ covers S T E /\ value f = cost S T a b.
Proof.
  induction E as [|[i x] E IH]; intros K a b A B.
  { exists [], (fun _ => false), (fun _ => false). split; [|split].
    - repeat split; simpl; auto. intros v [].
    - intros e [].
    - assert (Z : forall l c, weight l (fun _ => false) c = 0) by (induction l; simpl; intros; auto; rewrite IHl; lra).
      unfold cost. rewrite !Z. simpl. lra. }
  assert (K' : known E) by (intros e I; apply K; simpl; auto).
  destruct (K (i, x) ltac:(simpl; auto)) as [I J]. simpl in I, J.
  destruct (IH K' a b A B) as (f0 & S0 & T0 & F0 & C0 & V0).
  destruct (S0 i || T0 x) eqn:O.
  { exists (0 :: f0), S0, T0. destruct F0 as (L & N & P & Q). split; [|split].
    - repeat split; simpl; [congruence| | |].
      + intros v [<-|G]; [lra|auto].
      + intros j. specialize (P j). destruct (i =? j)%nat; lra.
      + intros j. specialize (Q j). destruct (x =? j)%nat; lra.
    - intros e [<-|G]; auto. apply orb_true_iff in O. auto.
    - simpl. rewrite V0. unfold value. lra. }
  apply orb_false_iff in O as [O1 O2].
  destruct (IH K' (set a i 0) b (set_nonneg a i 0 A ltac:(lra)) B) as (f1 & S1 & T1 & F1 & C1 & V1).
  destruct (IH K' a (set b x 0) A (set_nonneg b x 0 B ltac:(lra))) as (f2 & S2 & T2 & F2 & C2 & V2).
  set (A0 := value f0) in *. set (A1 := a i + value f1). set (A2 := b x + value f2).
  (* covers with a node of the edge cost at least A1 or A2 *)
  assert (M1 : forall S T, covers S T E -> S i = true -> A1 <= cost S T a b).
  { intros S T C H. pose proof (at_most E _ _ f1 S T K' F1 C) as G. unfold cost in *.
    rewrite weight_set, H in G by auto. unfold A1. lra. }
  assert (M2 : forall S T, covers S T E -> T x = true -> A2 <= cost S T a b).
  { intros S T C H. pose proof (at_most E _ _ f2 S T K' F2 C) as G. unfold cost in *.
    rewrite weight_set, H in G by auto. unfold A2. lra. }
  (* and two covers do so *)
  assert (D1 : covers (join S1 i) T1 ((i, x) :: E) /\ cost (join S1 i) T1 a b = A1).
  { split.
    - intros e [<-|G]; unfold join; simpl; [rewrite Nat.eqb_refl; auto|].
      destruct (C1 e G) as [-> | ->]; auto. rewrite orb_true_r. auto.
    - unfold A1. rewrite V1. unfold cost. rewrite <- (weight_join left S1 (set a i 0) i) by (unfold set; rewrite Nat.eqb_refl; auto).
      rewrite weight_set by auto. unfold join at 3. rewrite Nat.eqb_refl. simpl. lra. }
  assert (D2 : covers S2 (join T2 x) ((i, x) :: E) /\ cost S2 (join T2 x) a b = A2).
  { split.
    - intros e [<-|G]; unfold join; simpl; [rewrite Nat.eqb_refl; auto|].
      destruct (C2 e G) as [-> | ->]; auto. rewrite orb_true_r. auto.
    - unfold A2. rewrite V2. unfold cost. rewrite <- (weight_join right T2 (set b x 0) x) by (unfold set; rewrite Nat.eqb_refl; auto).
      rewrite weight_set by auto. unfold join at 3. rewrite Nat.eqb_refl. simpl. lra. }
  set (M := Rmin A1 A2). set (d := M - A0).
  assert (MA : M <= A1) by apply Rmin_l. assert (MB : M <= A2) by apply Rmin_r.
  assert (CE : forall S T, covers S T ((i, x) :: E) -> covers S T E) by (intros S T C e G; apply C; simpl; auto).
  assert (D : 0 <= d).
  { pose proof (at_most E a b f0 _ _ K' F0 (CE _ _ (proj1 D1))) as G1. rewrite (proj2 D1) in G1.
    pose proof (at_most E a b f0 _ _ K' F0 (CE _ _ (proj1 D2))) as G2. rewrite (proj2 D2) in G2.
    unfold d, M. fold A0 in G1, G2. apply Rmin_case with (P := fun m => 0 <= m - A0); lra. }
  assert (Di : d <= a i).
  { pose proof (at_most E _ _ f1 S0 T0 K' F1 C0) as G. unfold cost in *. rewrite weight_set, O1 in G by auto.
    unfold d, A1 in *. lra. }
  assert (Dx : d <= b x).
  { pose proof (at_most E _ _ f2 S0 T0 K' F2 C0) as G. unfold cost in *. rewrite weight_set, O2 in G by auto.
    unfold d, A2 in *. lra. }
  destruct (IH K' (set a i (a i - d)) (set b x (b x - d)) (set_nonneg a i (a i - d) A ltac:(lra)) (set_nonneg b x (b x - d) B ltac:(lra)))
    as (f3 & S3 & T3 & F3 & C3 & V3).
  assert (F : flow a b ((i, x) :: E) (d :: f3)).
  { destruct F3 as (L & N & P & Q). repeat split; simpl; [congruence| | |].
    - intros v [<-|G]; auto.
    - intros j. specialize (P j). unfold set in P. rewrite (Nat.eqb_sym i j). destruct (Nat.eqb_spec j i); subst; lra.
    - intros j. specialize (Q j). unfold set in Q. rewrite (Nat.eqb_sym x j). destruct (Nat.eqb_spec j x); subst; lra. }
  assert (G : M <= value (d :: f3)).
  { simpl. fold (value f3). rewrite V3. unfold cost. rewrite !weight_set by auto.
    assert (H0 : A0 <= cost S3 T3 a b) by (apply (at_most E a b f0); auto).
    destruct (S3 i) eqn:U; destruct (T3 x) eqn:W; unfold cost in *.
    - pose proof (weight_lattice left S3 S0 a) as X1. pose proof (weight_lattice right T3 T0 b) as X2.
      assert (Y1 : A2 <= cost (fun j => S3 j && S0 j) (fun j => T3 j || T0 j) a b).
      { apply M2; [|rewrite W; auto]. intros e He. destruct (C3 e He) as [-> | ->]; [|right; auto].
        destruct (C0 e He) as [-> | ->]; [left|right]; auto. apply orb_true_r. }
      assert (Y2 : A1 <= cost (fun j => S3 j || S0 j) (fun j => T3 j && T0 j) a b).
      { apply M1; [|rewrite U; auto]. intros e He. destruct (C3 e He) as [-> | ->]; [left; auto|].
        destruct (C0 e He) as [-> | ->]; [left; apply orb_true_r|right]; auto. }
      unfold cost in *. unfold d. lra.
    - pose proof (M1 S3 T3 C3 U) as Y. unfold cost in Y. lra.
    - pose proof (M2 S3 T3 C3 W) as Y. unfold cost in Y. lra.
    - unfold d. lra. }
  destruct (Rle_lt_dec A1 A2) as [R|R].
  - exists (d :: f3), (join S1 i), T1. split; [|split; [apply D1|]]; auto.
    pose proof (at_most _ a b _ _ _ K F (proj1 D1)) as H. rewrite (proj2 D1) in *.
    unfold M in G. rewrite Rmin_left in G by auto. lra.
  - exists (d :: f3), S2, (join T2 x). split; [|split; [apply D2|]]; auto.
    pose proof (at_most _ a b _ _ _ K F (proj1 D2)) as H. rewrite (proj2 D2) in *.
    unfold M in G. rewrite Rmin_right in G by lra. lra.
Qed.

End MaxFlow.
