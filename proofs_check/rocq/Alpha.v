(** The most that a single-step rule can accept of drafted tokens: alpha* = 1 + min over sets H of
    p(H) - Pr(all drafts in H), and what follows of drafts with and without replacement. *)

Require Import Reals Lra List Arith Bool Lia.
Require Import Programs Numbers Means Lossless MaxFlow.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** Drafts of one node: the mass of each, and its tokens. *)
Definition drafts := list (R * list token).

Section Alpha.
Variable V : nat.
Notation total := (total V).
Notation vocabulary := (vocabulary V).

Definition mass (L : drafts) (i : nat) : R := fst (nth i L (0, [])).
Definition drafted (L : drafts) (i : nat) : list token := snd (nth i L (0, [])).
Definition over (L : drafts) (f : nat -> R) : R := RealPrograms.total (length L) f.

(** The probability that all drafts lie in a set. *)
Definition inside (L : drafts) (H : token -> bool) : R :=
  over L (fun i => if forallb H (drafted L i) then mass L i else 0).
Definition of_set (r : row) (H : token -> bool) : R := total (fun x => if H x then r x else 0).

Definition is_law (L : drafts) : Prop :=
  (forall w D, In (w, D) L -> 0 <= w /\ forall x, In x D -> In x vocabulary) /\ over L (mass L) = 1.

(** With what probability draft [i] is drawn and its token [x] accepted.  A rule that accepts so and else draws from
    what is left of p is valid (Plans.v). *)
Definition plan (p : row) (L : drafts) (f : nat -> token -> R) : Prop :=
  (forall i x, 0 <= f i x) /\ (forall i x, ~ In x (drafted L i) -> f i x = 0) /\
  (forall i, total (f i) <= mass L i) /\ (forall x, over L (fun i => f i x) <= p x).
Definition accepted (L : drafts) (f : nat -> token -> R) : R := over L (fun i => total (f i)).

Lemma total_le_in : forall n f g, (forall x, In x (RealPrograms.vocabulary n) -> f x <= g x) ->
  RealPrograms.total n f <= RealPrograms.total n g.
Proof.
  intros n f g. unfold RealPrograms.total. induction (RealPrograms.vocabulary n) as [|x l IH]; simpl; intros H; [lra|].
  assert (f x <= g x) by (apply H; auto). assert (fold_right (fun x s => f x + s) 0 l <= fold_right (fun x s => g x + s) 0 l).
  { apply IH. auto. } simpl in *. lra.
Qed.

Lemma total_none : forall n, RealPrograms.total n (fun _ => 0) = 0.
Proof. intros n. rewrite (total_ext n _ (fun _ => 0 * 0)) by (intros; lra). rewrite total_mul. lra. Qed.

Lemma exchange : forall n (f : nat -> token -> R),
  RealPrograms.total n (fun i => total (f i)) = total (fun x => RealPrograms.total n (fun i => f i x)).
Proof.
  intros n f. unfold RealPrograms.total at 1 4. induction (RealPrograms.vocabulary n) as [|i l IH]; simpl.
  - rewrite total_none. auto.
  - rewrite IH. symmetry. apply total_add.
Qed.

(** ** The formula *)

Section Formula.
Variable p : row.
Hypothesis p_row : is_row V p.
Variable L : drafts.
Hypothesis law : is_law L.

Lemma mass_nonneg : forall i, 0 <= mass L i.
Proof.
  intros i. unfold mass. destruct (nth_in_or_default i L (0, [])) as [I | ->]; [|simpl; lra].
  destruct (nth i L (0, [])) as [w D]. apply (proj1 law w D I).
Qed.

Lemma drafted_known : forall i x, In x (drafted L i) -> In x vocabulary.
Proof.
  intros i x. unfold drafted. destruct (nth_in_or_default i L (0, [])) as [I | ->]; [|intros []].
  destruct (nth i L (0, [])) as [w D]. apply (proj1 law w D I).
Qed.

Lemma inside_or_not : forall H, inside L H = 1 - over L (fun i => if forallb H (drafted L i) then 0 else mass L i).
Proof.
  intros H. rewrite <- (proj2 law). unfold inside, over. rewrite <- total_sub. apply total_ext. intros i.
  destruct (forallb H (drafted L i)); ring.
Qed.

Lemma plan_at_most : forall f H, plan p L f -> accepted L f <= 1 + (of_set p H - inside L H).
Proof.
  intros f H (N & O & M & P). rewrite inside_or_not. unfold accepted.
  apply Rle_trans with (over L (fun i => total (fun x => if H x then f i x else 0)) +
    over L (fun i => if forallb H (drafted L i) then 0 else mass L i)).
  - unfold over. rewrite <- total_add. apply total_le. intros i. destruct (forallb H (drafted L i)) eqn:F.
    + rewrite Rplus_0_r. apply total_le. intros x. destruct (H x) eqn:X; [lra|].
      rewrite O; [lra|]. intros I. rewrite forallb_forall in F. rewrite F in X by auto. discriminate.
    + specialize (M i). assert (0 <= total (fun x => if H x then f i x else 0)); [|lra].
      apply total_nonneg. intros x. destruct (H x); auto; lra.
  - assert (over L (fun i => total (fun x => if H x then f i x else 0)) <= of_set p H); [|lra].
    unfold over. rewrite exchange. apply total_le. intros x. destruct (H x).
    + apply P.
    + rewrite (total_ext _ _ (fun _ => 0 * 0)) by (intros; lra). rewrite total_mul. lra.
Qed.

Definition edges : list edge := flat_map (fun i => map (pair i) (drafted L i)) (seq 0 (length L)).

Lemma in_edges : forall i x, In (i, x) edges <-> In i (seq 0 (length L)) /\ In x (drafted L i).
Proof.
  intros i x. unfold edges. rewrite in_flat_map. split.
  - intros [j [J I]]. apply in_map_iff in I as [y [[= -> ->] I]]. auto.
  - intros [J I]. exists i. split; auto. apply in_map. auto.
Qed.

Fixpoint amount (E : list edge) (f : list R) (i : nat) (x : token) : R :=
  match E, f with
  | e :: E, v :: f => (if (fst e =? i)%nat then if (snd e =? x)%nat then v else 0 else 0) + amount E f i x
  | _, _ => 0
  end.

Lemma total_one : forall n k v, In k (RealPrograms.vocabulary n) ->
  RealPrograms.total n (fun x => if (k =? x)%nat then v else 0) = v.
Proof. intros n k v I. apply (weight_single (seq 0 n) (fun _ => true) k v (seq_NoDup n 0) I). Qed.

Lemma amounts : forall E f, length f = length E ->
  (forall e, In e E -> In (fst e) (seq 0 (length L)) /\ In (snd e) vocabulary) ->
  (forall i, total (amount E f i) = through fst E f i) /\
  (forall x, over L (fun i => amount E f i x) = through snd E f x) /\
  over L (fun i => total (amount E f i)) = value f.
Proof.
  induction E as [|e E IH]; intros [|v f] Q K; try discriminate.
  - unfold over. simpl. repeat split; intros; rewrite ?total_none; auto.
  - destruct (K e) as [I J]; simpl; auto.
    destruct (IH f) as (X & Y & Z); [simpl in Q; congruence|intros; apply K; simpl; auto|].
    assert (T : forall i, total (fun x => if (fst e =? i)%nat then if (snd e =? x)%nat then v else 0 else 0) =
      if (fst e =? i)%nat then v else 0).
    { intros i. destruct (fst e =? i)%nat; [apply total_one; auto|apply total_none]. }
    simpl. repeat split.
    + intros i. rewrite total_add, X, T. auto.
    + intros x. unfold over in *. rewrite total_add, Y. f_equal.
      apply (total_one (length L) (fst e) (if (snd e =? x)%nat then v else 0)). auto.
    + unfold over in *. rewrite (total_ext _ _ (fun i => (if (fst e =? i)%nat then v else 0) + total (amount E f i)))
        by (intros i; rewrite total_add, T; auto).
      rewrite total_add. exact (f_equal2 Rplus (total_one (length L) (fst e) v I) Z).
Qed.

Lemma amount_nonneg : forall E f, (forall v, In v f -> 0 <= v) -> forall i x, 0 <= amount E f i x.
Proof.
  induction E as [|e E IH]; intros [|v f] N i x; simpl; try lra.
  specialize (IH f (fun w I => N w (or_intror I)) i x). assert (0 <= v) by (apply N; simpl; auto).
  destruct (fst e =? i)%nat; [destruct (snd e =? x)%nat|]; lra.
Qed.

Lemma amount_edge : forall E f i x, ~ In (i, x) E -> amount E f i x = 0.
Proof.
  induction E as [|[j y] E IH]; intros [|v f] i x N; simpl; auto. rewrite IH by (intros I; apply N; simpl; auto).
  destruct (Nat.eqb_spec j i); [destruct (Nat.eqb_spec y x)|]; try ring. subst. exfalso. apply N. simpl. auto.
Qed.

Theorem alpha_formula : exists f H, plan p L f /\ accepted L f = 1 + (of_set p H - inside L H) /\
  forall g H', plan p L g -> accepted L g <= 1 + (of_set p H' - inside L H').
Proof.
  assert (K : known (seq 0 (length L)) vocabulary edges).
  { intros [i x] I. apply in_edges in I as [I J]. split; auto. apply (drafted_known i). auto. }
  destruct (max_flow (seq 0 (length L)) vocabulary (seq_NoDup _ _) (seq_NoDup _ _) edges K (mass L) p
    mass_nonneg (proj1 p_row)) as (f & S & T & (Q & N & A & B) & C & E).
  destruct (amounts edges f Q K) as (X & Y & Z).
  assert (F : plan p L (amount edges f)).
  { repeat split.
    - apply amount_nonneg. auto.
    - intros i x I. apply amount_edge. intros G. apply in_edges in G. tauto.
    - intros i. rewrite X. apply A.
    - intros x. rewrite Y. apply B. }
  exists (amount edges f), T. split; auto. split; [|intros; apply plan_at_most; auto].
  apply Rle_antisym; [apply plan_at_most; auto|].
  unfold accepted. rewrite Z, E, inside_or_not. unfold cost.
  change (weight vocabulary T p) with (of_set p T).
  match goal with |- 1 + (_ - (1 - ?outside)) <= ?w + _ => assert (outside <= w); [|lra] end.
  change (weight (seq 0 (length L)) S (mass L)) with (over L (fun i => if S i then mass L i else 0)).
  apply total_le_in. intros i I. unfold RealPrograms.token in *. destruct (forallb T (drafted L i)) eqn:G.
  - pose proof (mass_nonneg i). destruct (S i); lra.
  - destruct (S i) eqn:U; [lra|]. exfalso.
    assert (forallb T (drafted L i) = true); [|congruence]. apply forallb_forall. intros x J.
    destruct (C (i, x)) as [H|H]; [apply in_edges; auto| |auto]. simpl in H. congruence.
Qed.

Theorem never_fails : (exists f, plan p L f /\ accepted L f = 1) <-> forall H, inside L H <= of_set p H.
Proof.
  split.
  - intros [f [F A]] H. pose proof (plan_at_most f H F). lra.
  - intros G. destruct alpha_formula as (f & H & F & A & _). exists f. split; auto. specialize (G H).
    pose proof (plan_at_most f (fun _ => true) F) as B.
    assert (I : inside L (fun _ => true) = 1).
    { rewrite <- (proj2 law). apply total_ext. intros i.
      replace (forallb (fun _ => true) (drafted L i)) with true; auto. symmetry. apply forallb_forall. auto. }
    rewrite I in B. change (of_set p (fun _ => true)) with (total p) in B. rewrite (proj2 p_row) in B. lra.
Qed.
End Formula.

(** ** Drafts drawn one after the other *)

Fixpoint with_first (r : row) (x : token) (L : drafts) : drafts :=
  match L with [] => [] | (w, D) :: L => (r x * w, x :: D) :: with_first r x L end.

Fixpoint iid (q : row) (k : nat) : drafts :=
  match k with 0 => [(1, [])] | S k => flat_map (fun x => with_first q x (iid q k)) vocabulary end.

(** Each from q without the earlier ones, while there is a token left. *)
Fixpoint distinct (k : nat) (q : row) : drafts :=
  match k with
  | 0 => [(1, [])]
  | S k =>
      if Rlt_dec 0 (total q) then flat_map (fun x => with_first q x (distinct k (without V q x))) vocabulary
      else [(1, [])]
  end.

(** [inside], draft by draft. *)
Fixpoint within (L : drafts) (H : token -> bool) : R :=
  match L with [] => 0 | (w, D) :: L => (if forallb H D then w else 0) + within L H end.

Lemma total_first : forall n f, RealPrograms.total (S n) f = f 0%nat + RealPrograms.total n (fun i => f (S i)).
Proof.
  intros n f. unfold RealPrograms.total, RealPrograms.vocabulary. simpl. f_equal. rewrite <- seq_shift.
  induction (seq 0 n) as [|i l IH]; simpl; auto. f_equal. auto.
Qed.

Lemma inside_within : forall L H, inside L H = within L H.
Proof.
  induction L as [|[w D] L IH]; intros H; [reflexivity|]. unfold inside, over. simpl length. rewrite total_first.
  change (within ((w, D) :: L) H) with ((if forallb H D then w else 0) + within L H). rewrite <- IH. reflexivity.
Qed.

Lemma whole_within : forall L, over L (mass L) = within L (fun _ => true).
Proof.
  intros L. rewrite <- inside_within. apply total_ext. intros i.
  replace (forallb (fun _ => true) (drafted L i)) with true; auto. symmetry. apply forallb_forall. auto.
Qed.

Lemma within_app : forall L M H, within (L ++ M) H = within L H + within M H.
Proof. induction L as [|[w D] L IH]; intros M H; simpl; [lra|]. rewrite IH. destruct (forallb H D); lra. Qed.

Lemma within_first : forall r x L H, within (with_first r x L) H = if H x then r x * within L H else 0.
Proof.
  intros r x L H. induction L as [|[w D] L IH]; simpl; [destruct (H x); lra|]. rewrite IH.
  destruct (H x); simpl; [destruct (forallb H D)|]; lra.
Qed.

Lemma within_each : forall r (next : token -> drafts) H,
  within (flat_map (fun x => with_first r x (next x)) vocabulary) H = total (fun x => if H x then r x * within (next x) H else 0).
Proof.
  intros r next H. unfold RealPrograms.total. induction vocabulary as [|x l IH]; simpl; auto.
  rewrite within_app, within_first, IH. auto.
Qed.

Lemma in_first : forall r x L w D, In (w, D) (with_first r x L) -> exists v E, In (v, E) L /\ w = r x * v /\ D = x :: E.
Proof.
  intros r x L w D. induction L as [|[v E] L IH]; simpl; [intros []|]. intros [[= <- <-]|I]; [exists v, E; auto|].
  destruct (IH I) as (v' & E' & J & W). exists v', E'. auto.
Qed.

Lemma first_known : forall r (next : token -> drafts), (forall x, 0 <= r x) ->
  (forall x, In x vocabulary -> forall w D, In (w, D) (next x) -> 0 <= w /\ forall y, In y D -> In y vocabulary) ->
  forall w D, In (w, D) (flat_map (fun x => with_first r x (next x)) vocabulary) ->
  0 <= w /\ forall y, In y D -> In y vocabulary.
Proof.
  intros r next N H w D I. apply in_flat_map in I as [x [X I]]. apply in_first in I as (v & E & I & -> & ->).
  destruct (H x X v E I) as [W J]. split; [apply Rmult_le_pos; auto|]. intros y [<-|G]; auto.
Qed.

Section Rows.
Variable q : row.
Hypothesis q_row : is_row V q.

Lemma iid_inside : forall k H, inside (iid q k) H = of_set q H ^ k.
Proof.
  intros k H. rewrite inside_within. induction k as [|k IH]; simpl; [lra|]. rewrite within_each, IH.
  unfold of_set. rewrite <- total_mul_right. apply total_ext. intros x. destruct (H x); lra.
Qed.

Lemma whole_set : forall r, of_set r (fun _ => true) = total r.
Proof. reflexivity. Qed.

Lemma iid_law : forall k, is_law (iid q k).
Proof.
  split.
  - induction k as [|k IH]; intros w D I.
    + destruct I as [[= <- <-]|[]]. split; [lra|]. intros x [].
    + simpl in I. apply (first_known q (fun _ => iid q k)) in I; auto. apply q_row.
  - rewrite whole_within, <- inside_within, iid_inside, whole_set, (proj2 q_row), pow1. auto.
Qed.

Theorem iid_never_fail : forall p k, is_row V p ->
  (exists f, plan p (iid q k) f /\ accepted (iid q k) f = 1) <-> forall H, of_set q H ^ k <= of_set p H.
Proof.
  intros p k P. rewrite (never_fails p P (iid q k) (iid_law k)).
  split; intros G H; specialize (G H); rewrite iid_inside in *; auto.
Qed.
End Rows.

Lemma of_set_nonneg : forall r H, (forall x, 0 <= r x) -> 0 <= of_set r H.
Proof. intros r H N. apply total_nonneg. intros x. destruct (H x); auto; lra. Qed.

Lemma of_set_le : forall r H, is_row V r -> of_set r H <= 1.
Proof. intros r H [N S]. rewrite <- S. apply total_le. intros x. specialize (N x). destruct (H x); lra. Qed.

Lemma one_law : is_law [(1, [])].
Proof. split; [intros w D [[= <- <-]|[]]; split; [lra|intros x []]|]. rewrite whole_within. simpl. lra. Qed.

Lemma without_rest : forall q x, is_row_or_empty V q -> is_row_or_empty V (without V q x).
Proof. intros q x. apply (after_row V false q x). Qed.

Lemma distinct_law : forall k q, is_row_or_empty V q -> is_law (distinct k q).
Proof.
  induction k as [|k IH]; intros q Q; simpl; [apply one_law|]. destruct (Rlt_dec 0 (total q)) as [P|P]; [|apply one_law].
  assert (S : total q = 1) by (destruct (proj2 Q); lra).
  split.
  - apply first_known; [apply Q|]. intros x I. apply (IH (without V q x) (without_rest q x Q)).
  - rewrite whole_within, within_each, <- S. apply total_ext. intros x.
    pose proof (proj2 (IH (without V q x) (without_rest q x Q))) as W. rewrite whole_within in W. rewrite W. ring.
Qed.

Lemma inside_at_most_one : forall L H, is_law L -> inside L H <= 1.
Proof.
  intros L H [N S]. rewrite <- S. apply total_le. intros i.
  pose proof (mass_nonneg L (conj N S) i). destruct (forallb H (drafted L i)); lra.
Qed.

(** Without a token of the set the rest has no more in it. *)
Lemma without_less : forall q x H, is_row V q -> In x vocabulary -> H x = true -> q x < 1 ->
  of_set (without V q x) H <= of_set q H.
Proof.
  intros q x H Q I X Lt. set (m := of_set q H). set (m' := of_set (without V q x) H).
  assert (E : (1 - q x) * m' = m - q x).
  { unfold m, m', of_set.
    transitivity (total (fun y => if H y then q y else 0) - total (fun y => if (x =? y)%nat then q x else 0));
      [|rewrite (total_one V x (q x) I); auto].
    rewrite <- total_mul, <- total_sub. apply total_ext_in. intros y J.
    destruct (Nat.eqb_spec x y) as [<-|D].
    - rewrite X, without_self by apply Q. ring.
    - destruct (H y); [|ring]. apply Nat.eqb_neq in D. rewrite (Nat.eqb_sym x y) in D.
      pose proof (without_mass V q Q x I y J D) as W. lra. }
  pose proof (of_set_le q H Q) as M. fold m in M. destruct (first_mass V q Q x I) as [B _].
  apply Rmult_le_reg_l with (1 - q x); [lra|]. rewrite E. nra.
Qed.

Lemma distinct_inside : forall k q H, is_row V q -> inside (distinct k q) H <= of_set q H ^ k.
Proof.
  induction k as [|k IH]; intros q H Q; [rewrite inside_within; simpl; lra|].
  simpl. destruct (Rlt_dec 0 (total q)) as [P|P]; [|exfalso; destruct Q; lra].
  rewrite inside_within, within_each. unfold of_set at 1. rewrite <- total_mul_right. apply total_le_in. intros x I.
  destruct (H x) eqn:X; [|lra]. rewrite <- inside_within. destruct (first_mass V q Q x I) as [B U].
  apply Rmult_le_compat_l; auto. destruct (Rle_lt_or_eq_dec _ _ U) as [Lt|Eq].
  - apply Rle_trans with (of_set (without V q x) H ^ k); [apply IH, without_row; auto|].
    apply pow_incr. split; [apply of_set_nonneg, without_row; auto|]. apply without_less; auto.
  - assert (of_set q H = 1) as ->.
    { apply Rle_antisym; [apply of_set_le; auto|]. rewrite <- Eq. unfold of_set.
      rewrite <- (total_one V x (q x) I). apply total_le. intros y. pose proof (proj1 Q y).
      destruct (Nat.eqb_spec x y) as [<-|]; [rewrite X|destruct (H y)]; lra. }
    rewrite pow1. apply inside_at_most_one, distinct_law, without_rest. apply row_or_empty. auto.
Qed.

Theorem distinct_accept_more : forall p q k g, is_row V p -> is_row V q -> plan p (iid q k) g ->
  exists f, plan p (distinct k q) f /\ accepted (iid q k) g <= accepted (distinct k q) f.
Proof.
  intros p q k g P Q G. pose proof (distinct_law k q (row_or_empty V q Q)) as D.
  destruct (alpha_formula p P _ D) as (f & H & F & A & _). exists f. split; auto. rewrite A.
  pose proof (plan_at_most p (iid q k) (iid_law q Q k) g H G) as B. rewrite (iid_inside q k H) in B.
  pose proof (distinct_inside k q H Q). lra.
Qed.

End Alpha.
