(** What it means that the checker accepts, for any numbers that are an ordered ring with decided
    comparisons. *)

Require Import String List Arith Bool Lia Ring_theory Ring.
Require Import Certificate Cells Lines.
Import ListNotations.

Module Type RING.
  Include NUMBER.
  Axiom ring : ring_theory zero one add mul sub (sub zero) (@eq t).
  Axiom equal_spec : forall x y, equal x y = true <-> x = y.
  Axiom same_not_less : forall x, less x x = false.
  Axiom less_add : forall a b c d, less b a = false -> less d c = false -> less (add b d) (add a c) = false.
  Axiom less_mul : forall a b c, less a zero = false -> less c b = false -> less (mul a c) (mul a b) = false.
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
  assert (F : forall d r, entry T d = Some r -> is_row V r = true).
  { intros d r G. unfold entry in G. destruct (find _ T) as [[e s]|] eqn:I; [|discriminate]. injection G as <-.
    apply find_some in I as [I _]. exact (H _ I). }
  induction c as [|x c IH]; simpl.
  - destruct (entry T []) eqn:G; [eauto|discriminate E].
  - destruct (entry T (x :: c)) eqn:G; eauto.
Qed.

(** A process draws every draft and branch with its probability: its endings have the whole together. *)
Lemma endings_mass : forall V once D k d w, sampler V once D d k = true -> sum (map fst (endings D w k)) = w.
Proof.
  intros V once D. induction k as [l IH|c extra|c l IH] using verification_all; simpl; intros d w H.
  - apply andb_prop in H as [D' H]. apply andb_prop in D' as [_ D']. apply equal_spec in D'.
    transitivity (mul w (sum (map fst l))); [|rewrite D'; ring]. clear D'.
    induction l as [|[m k] l IHl]; simpl in *; [ring|]. apply andb_prop in H as [H1 H2].
    inversion IH as [|? ? IHk IHrest]; subst. specialize (IHk d (mul w m) H1). specialize (IHl IHrest H2).
    simpl in IHk. rewrite map_app, sum_app, IHk, IHl. ring.
  - destruct extra as [r|]; [|simpl; ring]. apply andb_prop in H as [_ H]. apply andb_prop in H as [_ H].
    apply andb_prop in H as [_ H]. apply equal_spec in H. transitivity (mul w (sum r)); [|rewrite H; ring]. clear. cbn [on].
    generalize 0 as n. induction r as [|m r IH]; intros n; simpl; [ring|]. rewrite IH. ring.
  - apply andb_prop in H as [D' H]. apply andb_prop in D' as [_ D']. apply andb_prop in D' as [_ D'].
    apply equal_spec in D'. transitivity (mul w (sum (map fst (D c)))); [|rewrite D'; ring]. clear D'.
    revert H. generalize (D c) as ds. induction l as [|k l IHl]; intros [|[v e] ds] H; simpl in *; try discriminate;
      [ring|]. apply andb_prop in H as [H1 H2].
    inversion IH as [|? ? IHk IHrest]; subst. specialize (IHk _ (mul w v) H1). specialize (IHl IHrest ds H2).
    rewrite map_app, sum_app, IHk, IHl. ring.
Qed.

(** What no sampler does, at the end of a path of positive probability: every choice before it is a distribution. *)
Definition is_distribution (l : list t) : Prop := Forall (fun m => less m zero = false) l /\ sum l = one.

Lemma distribution_spec : forall l, distribution l = true <-> is_distribution l.
Proof.
  intros l. unfold distribution, is_distribution. rewrite andb_true_iff, equal_spec, forallb_forall, Forall_forall.
  setoid_rewrite negb_true_iff. tauto.
Qed.

Section Broken.
Variables (V : nat) (once : bool) (D : context -> law draft).
Inductive broken : option draft -> verification -> Prop :=
| Uneven : forall d l, ~ is_distribution (map fst l) -> broken d (Branch l)
| Nowhere : forall d c extra, node d c = false -> broken (Some d) (Stop c extra)
| NoLaw : forall d c r, ~ (length r = V /\ is_distribution r) -> broken d (Stop c (Some r))
| Later : forall d l m k, is_distribution (map fst l) -> In (m, k) l -> less zero m = true -> broken d k -> broken d (Branch l)
| Called : forall c l n k m d, is_distribution (map fst (D c)) -> nth_error l n = Some k -> nth_error (D c) n = Some (m, d) ->
    less zero m = true -> broken (if once then Some d else None) k -> forall d, broken d (Again c l).

Lemma fault_broken : forall k d, fault V once D d k = true -> broken d k.
Proof.
  induction k as [l IH|c extra|c l IH] using verification_all; simpl; intros d H.
  - destruct (distribution (map fst l)) eqn:E; simpl in H.
    + apply distribution_spec in E. apply existsb_exists in H as ([m k] & I & H). apply andb_prop in H as [P H].
      rewrite Forall_forall in IH. exact (Later d l m k E I P (IH _ I d H)).
    + apply Uneven. rewrite <- distribution_spec, E. discriminate.
  - apply negb_true_iff, andb_false_iff in H as [H|H].
    + destruct d as [d|]; [|discriminate]. apply Nowhere. exact H.
    + destruct extra as [r|]; [|discriminate]. apply NoLaw. rewrite <- distribution_spec, <- Nat.eqb_eq, <- andb_true_iff.
      unfold on, is_row in H. rewrite H. discriminate.
  - apply andb_prop in H as [C H]. apply distribution_spec in C.
    assert (G : exists n k m d, nth_error l n = Some k /\ nth_error (D c) n = Some (m, d) /\ less zero m = true /\
      fault V once D (if once then Some d else None) k = true).
    { clear - H. revert H. generalize (D c) as ds. induction l as [|k l IHl]; intros [|[m d] ds] H; try discriminate.
      simpl in H. apply orb_prop in H as [H|H].
      - destruct (_ && _) eqn:H'; [|discriminate]. apply andb_prop in H' as [P G]. exists 0, k, m, d. auto.
      - destruct (IHl ds H) as (n & G). exists (S n). exact G. }
    destruct G as (n & k & m & e & G1 & G2 & G3 & G4). rewrite Forall_forall in IH.
    exact (Called c l n k m e C G1 G2 G3 (IH k (nth_error_In _ _ G1) _ G4) d).
Qed.
End Broken.

Section Target.
Variable p : context -> row.

Lemma mass_ended : forall l c u, forallb ended l = true ->
  mass p l c u = mul (sum (map fst (filter ended l))) (follows p c u).
Proof.
  unfold mass. induction l as [|[w [n [|y d]]] l IH]; intros c u H; simpl in *; try discriminate; [ring|].
  rewrite (IH c u H). destruct u; simpl; ring.
Qed.

Lemma mass_step : forall c x u l,
  mass p l c (x :: u) = add (mass p (below x l) (c ++ [x]) u) (mul (sum (map fst (filter ended l))) (follows p c (x :: u))).
Proof.
  intros c x u. unfold mass. induction l as [|[w [n [|y d]]] l IH]; [simpl; ring| |]; simpl in *.
  - rewrite IH. ring.
  - rewrite IH. destruct (x =? y); simpl; ring.
Qed.

Lemma right_sound : forall V fuel c l here want, right p V fuel c l here want = true ->
  forall u, fuel <= length u -> Forall (fun x => x < V) u ->
  add (mass p l c u) (mul here (follows p c u)) = mul want (follows p c u).
Proof.
  intros V. induction fuel as [|fuel IH]; intros c l here want H u L T; cbn [right] in H;
    (destruct (forallb ended l) eqn:E; [apply equal_spec in H; rewrite <- H, (mass_ended l c u E); ring|]).
  - discriminate.
  - destruct u as [|x u]; [simpl in L; lia|]. inversion T; subst.
    rewrite forallb_forall in H. rewrite mass_step. cbn [follows].
    specialize (IH _ _ _ _ (H x ltac:(apply in_seq; lia)) u ltac:(simpl in L; lia) ltac:(auto)).
    etransitivity; [|etransitivity; [exact IH|]]; ring.
Qed.
End Target.

(** ** The optimum: weak duality *)

Definition le (x y : t) : Prop := less y x = false.

Lemma both_length : forall A B (f : A -> B -> bool) l m, both f l m = true -> length l = length m.
Proof.
  intros A B f. induction l as [|a l IH]; intros [|b m] H; simpl in *; try discriminate; auto.
  apply andb_prop in H as [_ H]. auto.
Qed.

Lemma dot_plus : forall l m v, length l = length v -> length m = length v ->
  dot (plus l m) v = add (dot l v) (dot m v).
Proof.
  unfold dot, plus. induction l as [|x l IH]; intros [|y m] [|z v] A B; simpl in *; try discriminate; [ring|].
  rewrite IH by congruence. ring.
Qed.

Lemma plus_length : forall l m, length l = length m -> length (plus l m) = length m.
Proof. unfold plus. induction l as [|x l IH]; intros [|y m] A; simpl in *; try discriminate; auto. Qed.

Lemma dot_zero : forall A (l : list A) v, dot (map (fun _ => zero) l) v = zero.
Proof.
  intros A. unfold dot. induction l as [|x l IH]; intros [|y v]; simpl; auto. rewrite IH. ring.
Qed.

(** What each mass is worth at most, at the prices of its draft and its block. *)
Lemma row_at_most : forall u f v r ms, both (fun x (_ : t) => negb (less x zero)) f ms = true -> length v = length ms ->
  both (fun v x => negb (less (add u v) x)) v r = true -> le (dot f r) (add (mul u (sum f)) (dot f v)).
Proof.
  intros u. unfold le, dot. induction f as [|x f IH]; intros [|y v] [|z r] [|m ms] N L H; simpl in *; try discriminate.
  - replace (add (mul u zero) zero) with zero by ring. apply same_not_less.
  - apply andb_prop in N as [N1 N2]. apply andb_prop in H as [H1 H2].
    replace (add (mul u (add x (sum f))) (add (mul x y) (sum (zip mul f v))))
      with (add (mul x (add u y)) (add (mul u (sum f)) (sum (zip mul f v)))) by ring.
    apply less_add; [|eapply IH; eauto]. apply less_mul; apply negb_true_iff; auto.
Qed.

Lemma worth_at_most : forall R F us v ws ms, both (fun w f => equal (sum f) w && both (fun x (_ : t) => negb (less x zero)) f ms) ws F = true ->
  length v = length ms -> both (fun u r => both (fun v x => negb (less (add u v) x)) v r) us R = true -> length ws = length us ->
  le (worth F R) (add (dot ws us) (dot (fold_right plus (map (fun _ => zero) ms) F) v)) /\
  length (fold_right plus (map (fun _ => zero) ms) F) = length ms.
Proof.
  induction R as [|r R IH]; intros [|f F] [|u us] v [|w ws] ms C L H Q; simpl in *; try discriminate.
  - rewrite dot_zero, map_length. split; auto. replace (add _ zero) with zero by (unfold dot, worth; simpl; ring).
    apply same_not_less.
  - apply andb_prop in C as [C1 C2]. apply andb_prop in C1 as [S N]. apply equal_spec in S. apply andb_prop in H as [H1 H2].
    destruct (IH F us v ws ms) as [W G]; auto. pose proof (both_length _ _ _ _ _ N) as X.
    assert (X1 : length f = length v) by (etransitivity; [exact X|symmetry; exact L]).
    assert (X2 : length (fold_right plus (map (fun _ => zero) ms) F) = length v) by (etransitivity; [exact G|symmetry; exact L]).
    rewrite dot_plus by auto. split; [|rewrite plus_length; [exact G|etransitivity; [exact X|symmetry; exact G]]].
    change (worth (f :: F) (r :: R)) with (add (dot f r) (worth F R)).
    change (dot (w :: ws) (u :: us)) with (add (mul w u) (dot ws us)).
    replace (add (add (mul w u) (dot ws us)) (add (dot f v) (dot (fold_right plus (map (fun _ => zero) ms) F) v)))
      with (add (add (mul u (sum f)) (dot f v)) (add (dot ws us) (dot (fold_right plus (map (fun _ => zero) ms) F) v)))
      by (rewrite S; ring).
    apply less_add; auto. apply (row_at_most u f v r ms); auto.
Qed.

Lemma both_equal : forall l m, both equal l m = true -> l = m.
Proof.
  induction l as [|x l IH]; intros [|y m] H; simpl in *; try discriminate; auto.
  apply andb_prop in H as [E H]. apply equal_spec in E. subst. f_equal. auto.
Qed.

(** The optimum is the worth of a coupling, and no coupling is worth more. *)
Theorem best_sound : forall ws ms R F c, best ws ms R F c = true ->
  couples ws ms F = true /\ worth F R = optimum c /\
  forall G, couples ws ms G = true -> length G = length R -> le (worth G R) (optimum c).
Proof.
  intros ws ms R F c H. unfold best in H. apply andb_prop in H as [H D]. apply andb_prop in H as [H W].
  apply andb_prop in H as [H P]. apply andb_prop in H as [V C]. apply Nat.eqb_eq in V. apply equal_spec in W, D.
  split; auto. split; auto. intros G K Q. rewrite <- D. unfold couples in K. apply andb_prop in K as [G1 G2].
  pose proof (both_equal _ _ G2) as E. pose proof (both_length _ _ _ _ _ P) as X.
  pose proof (both_length _ _ _ _ _ G1) as Y.
  destruct (worth_at_most R G (of_drafts c) (of_blocks c) ws ms) as [Z _]; auto;
    [rewrite Y; etransitivity; [exact Q|symmetry; exact X]|rewrite E in Z; auto].
Qed.

(** ** Rules without state: weak duality again *)

Lemma le_trans : forall x y z, le x y -> le y z -> le x z.
Proof.
  unfold le. intros x y z A B. pose proof (less_add _ _ _ _ (less_add _ _ _ _ A B) (same_not_less (sub zero y))) as E.
  replace (add (add y z) (sub zero y)) with z in E by ring. replace (add (add x y) (sub zero y)) with x in E by ring.
  exact E.
Qed.

(** A mean over tokens, each with its weight in a row. *)
Definition weighted {A} (a f : A -> t) (l : list A) : t := sum (map (fun x => mul (a x) (f x)) l).

Lemma weighted_le : forall A (a f g : A -> t) l, (forall x, In x l -> le zero (a x) /\ le (f x) (g x)) ->
  le (weighted a f l) (weighted a g l).
Proof.
  intros A a f g. unfold weighted. induction l as [|x l IH]; intros H; simpl; [apply same_not_less|].
  destruct (H x) as [P Q]; [simpl; auto|]. apply less_add; [apply less_mul; auto|]. apply IH. intros y I. apply H. simpl. auto.
Qed.

Lemma weighted_plus : forall A (a f : A -> t) u l,
  weighted a (fun x => add u (f x)) l = add (mul u (sum (map a l))) (weighted a f l).
Proof. intros A a f u. unfold weighted. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma weighted_const : forall A (a : A -> t) u l, weighted a (fun _ => u) l = mul u (sum (map a l)).
Proof. intros A a u. unfold weighted. induction l as [|x l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma row_from : forall r i, map (fun x => nth (x - i) r zero) (seq i (length r)) = r.
Proof.
  induction r as [|m r IH]; intros i; simpl; auto. rewrite Nat.sub_diag. f_equal. etransitivity; [|apply (IH (S i))].
  apply map_ext_in. intros x H. apply in_seq in H. replace (x - i) with (S (x - S i)) by lia. auto.
Qed.

Lemma is_row_weights : forall V r, is_row V r = true ->
  sum (map (at_token r) (seq 0 V)) = one /\ forall x, x < V -> le zero (at_token r x).
Proof.
  intros V r H. apply andb_prop in H as [L H]. apply Nat.eqb_eq in L. subst V. apply andb_prop in H as [N S].
  apply equal_spec in S. split.
  - etransitivity; [|exact S]. f_equal. etransitivity; [|apply (row_from r 0)]. apply map_ext. intros x.
    rewrite Nat.sub_0_r. auto.
  - intros x L. rewrite forallb_forall in N. apply negb_true_iff, N, nth_In. exact L.
Qed.

Lemma weighted_at : forall (a : token -> t) g y n i, i <= y < i + n ->
  weighted a (fun x => if y =? x then g else zero) (seq i n) = mul (a y) g.
Proof.
  intros a g y. unfold weighted. induction n as [|n IH]; intros i H; [lia|]. simpl. destruct (Nat.eqb_spec y i).
  - subst. replace (sum _) with zero; [ring|]. symmetry. clear IH H. assert (Z : i < S i) by lia. revert Z.
    generalize (S i) as j. induction n as [|n IH]; intros j Z; simpl; auto. rewrite IH by lia.
    destruct (Nat.eqb_spec i j); [lia|ring].
  - rewrite IH by lia. ring.
Qed.

Section Prices.
Variables (V : nat) (p : context -> row) (prices : list t) (ws : list context).
Hypothesis rows_p : forall c, is_row V (p c) = true.
Hypothesis tokens : forall w, In w ws -> Forall (fun x => x < V) w.

Lemma begins_nothing : forall w c, begins p c [] w = follows p c w.
Proof. destruct w; reflexivity. Qed.

(** What begins as a text does is the mean of what begins as it does with one token more. *)
Lemma begins_mean : forall w d c, Forall (fun x => x < V) w ->
  begins p c d w = weighted (at_token (p (c ++ d))) (fun x => begins p c (d ++ [x]) w) (seq 0 V).
Proof.
  intros w. induction w as [|y w IH]; intros d c T.
  - replace (begins p c d []) with one by (destruct d; reflexivity).
    unfold weighted. destruct (is_row_weights _ _ (rows_p (c ++ d))) as [<- _]. f_equal. apply map_ext. intros x.
    destruct (d ++ [x]); simpl; ring.
  - inversion T; subst. destruct d as [|z d]; cbn [begins app follows].
    + rewrite app_nil_r. rewrite <- (weighted_at (at_token (p c)) (follows p (c ++ [y]) w) y V 0) by lia.
      unfold weighted. f_equal. apply map_ext. intros x. destruct (y =? x); auto. destruct w; reflexivity.
    + destruct (Nat.eqb_spec y z).
      * subst. rewrite IH by auto. rewrite <- app_assoc. reflexivity.
      * unfold weighted. clear. induction (seq 0 V) as [|x l IH]; simpl; auto. rewrite <- IH. ring.
Qed.

Definition price (c : context) : t := dot prices (map (begins p [] c) ws).

Lemma dot_weighted : forall A (a : A -> t) (f : A -> context -> t) l vs us,
  dot vs (map (fun w => weighted a (fun x => f x w) l) us) = weighted a (fun x => dot vs (map (f x) us)) l.
Proof.
  intros A a f l. unfold dot, weighted. induction vs as [|v vs IH]; intros us; simpl.
  - induction l as [|x l IHl]; simpl; auto. rewrite <- IHl. ring.
  - destruct us as [|w us]; simpl.
    + clear IH. induction l as [|x l IHl]; simpl; auto. rewrite <- IHl. ring.
    + rewrite IH. clear IH. induction l as [|x l IHl]; simpl; [ring|]. rewrite <- IHl. ring.
Qed.

Lemma price_mean : forall c, price c = weighted (at_token (p c)) (fun x => price (c ++ [x])) (seq 0 V).
Proof.
  intros c. unfold price. rewrite <- dot_weighted. f_equal. apply map_ext_in. intros w I. apply (begins_mean w c []). auto.
Qed.

Lemma both_same : forall c d, both Nat.eqb c d = true -> c = d.
Proof.
  induction c as [|x c IH]; intros [|y d] H; simpl in *; try discriminate; auto. apply andb_prop in H as [E H].
  apply Nat.eqb_eq in E. f_equal; auto.
Qed.

Lemma times_one : forall n x, times n x = mul x (times n one).
Proof. unfold times. induction n as [|n IH]; intros x; simpl; [ring|rewrite IH; ring]. Qed.

Definition paid (l : list ending) : t := sum (map (fun '(w, (_, c)) => mul w (price c)) l).

Lemma paid_app : forall l m, paid (l ++ m) = add (paid l) (paid m).
Proof. intros. unfold paid. rewrite map_app. apply sum_app. Qed.

Lemma accepted_app : forall l m, accepted (l ++ m) = add (accepted l) (accepted m).
Proof. intros. unfold accepted. rewrite map_app. apply sum_app. Qed.

Lemma product_not_below : forall w m, le zero w -> le zero m -> le zero (mul w m).
Proof. intros w m W M. unfold le in *. replace zero with (mul w zero) at 1 by ring. apply less_mul; auto. Qed.

(** What is emitted of a draft at the price [u]: what it accepts is at most what both cost. *)
Definition fair (u : t) (e : ending) : Prop := let '(w, (n, c)) := e in le zero w /\ le (times n one) (add u (price c)).

Lemma fair_at_most : forall u l, Forall (fair u) l -> le (accepted l) (add (mul (sum (map fst l)) u) (paid l)).
Proof.
  intros u. unfold accepted, paid. induction l as [|[w [n c]] l IH]; intros H; simpl.
  - replace (add _ zero) with zero by ring. apply same_not_less.
  - inversion H as [|e m E F]; subst. destruct E as [W N]. rewrite times_one.
    match goal with |- le _ (add (mul (add ?a ?b) ?u) (add (mul ?a ?y) ?z)) =>
      replace (add (mul (add a b) u) (add (mul a y) z)) with (add (mul a (add u y)) (add (mul b u) z)) by ring end.
    apply less_add; [apply less_mul; [exact W|exact N]|apply IH; exact F].
Qed.

Variable D : context -> law draft.

Lemma fair_endings : forall d u,
  (forall n x, In n ([] :: d) -> x < V -> le (times (length n) one) (add u (price (n ++ [x])))) ->
  forall k w, sampler V true D (Some d) k = true -> le zero w -> Forall (fair u) (endings D w k).
Proof.
  intros d u feasible. induction k as [l IH|c extra|c l IH] using verification_all; simpl; intros w H W; [| |discriminate].
  - apply andb_prop in H as [M H]. apply andb_prop in M as [M _].
    induction l as [|[m k] l IHl]; simpl in *; [constructor|].
    apply andb_prop in M as [M1 M2]. apply andb_prop in H as [H1 H2]. inversion IH as [|? ? IHk IHr]; subst.
    apply Forall_app. split; auto. apply IHk; auto. apply product_not_below; auto. apply negb_true_iff. auto.
  - apply andb_prop in H as [N E]. unfold node in N. apply existsb_exists in N as (n & I & S). apply both_same in S. subst n.
    destruct extra as [r|].
    + apply andb_prop in E as [L E]. apply andb_prop in E as [E _]. apply Nat.eqb_eq in L. subst V.
      assert (G : forall r' i, forallb (fun m => negb (less m zero)) r' = true -> i + length r' <= length r ->
        Forall (fair u) (zip (fun x m => (mul w m, (length c, c ++ [x]))) (seq i (length r')) r')).
      { induction r' as [|m r' IHr]; intros i F B; simpl in *; [constructor|]. apply andb_prop in F as [F1 F2]. constructor.
        - split; [apply product_not_below; auto; apply negb_true_iff; auto|]. apply feasible; auto. lia.
        - apply IHr; auto. lia. }
      apply G; auto.
    + constructor; [|constructor]. split; auto. rewrite price_mean.
      destruct (is_row_weights _ _ (rows_p c)) as [Q P].
      replace (times (length c) one) with (weighted (at_token (p c)) (fun _ => times (length c) one) (seq 0 V))
        by (rewrite weighted_const, Q; ring).
      replace u with (mul u (sum (map (at_token (p c)) (seq 0 V)))) by (rewrite Q; ring). rewrite <- weighted_plus.
      apply weighted_le. intros x J. apply in_seq in J. split; [apply P; lia|apply feasible; auto; lia].
Qed.

Lemma paid_mass : forall l, paid l = dot prices (map (mass p l []) ws).
Proof.
  induction l as [|[w [n c]] l IH].
  - unfold paid, dot, mass. simpl. generalize prices as vs. clear. induction ws as [|? ? IH]; intros [|v vs]; simpl; auto.
    rewrite <- IH. ring.
  - change (paid ((w, (n, c)) :: l)) with (add (mul w (price c)) (paid l)). rewrite IH. unfold price. clear IH.
    unfold dot. generalize prices as vs. clear. induction ws as [|u us IH]; intros [|v vs]; simpl; try ring.
    rewrite <- IH. unfold mass. simpl. ring.
Qed.
End Prices.

Lemma words_spec : forall V n w, In w (words V n) -> length w = n /\ Forall (fun x => x < V) w.
Proof.
  intros V n. unfold words. assert (N : length (seq 0 n) = n) by apply seq_length. revert N. generalize (seq 0 n) as l.
  intros l <-. induction l as [|i l IH]; simpl; intros w H.
  - destruct H as [<-|[]]. auto.
  - apply in_flat_map in H as (u & I & H). apply in_map_iff in H as (x & <- & J). apply in_seq in J.
    destruct (IH _ I) as [L F]. rewrite app_length, L. simpl. split; [lia|]. apply Forall_app. split; auto. constructor; auto; lia.
Qed.

(** No rule is lossless in one call by itself and accepts more tokens on average: no process that draws a draft with the
    drafter's probability, verifies it by coins and draws that are distributions, stops at a node of it, and gives every
    word that is longer than drafts the target's probability. *)
Definition bounded (I : instance) (most : t) : Prop :=
  let p := row_of (target I) in
  forall ks, let process := Again [] ks in let l := endings (drafted I) one process in
  sampler (vocab I) true (drafted I) None process = true ->
  (forall u, depth I < length u -> Forall (fun x => x < vocab I) u -> mass p l [] u = follows p [] u) ->
  le (accepted l) most.

Theorem unbeaten_sound : forall I c, sound_instance I = true ->
  unbeaten (vocab I) (depth I) (row_of (target I)) (drafted I []) c = true -> bounded I (optimum c).
Proof.
  intros I c S H ks process l P L. apply andb_prop in S as [S _]. apply andb_prop in H as [H E]. apply equal_spec in E.
  set (p := row_of (target I)) in *. set (V := vocab I) in *. set (ws := words V (Datatypes.S (depth I))) in *.
  assert (T : forall w, In w ws -> Forall (fun x => x < V) w) by (intros w J; apply words_spec in J; tauto).
  assert (R : forall c, is_row V (p c) = true) by (intros; apply row_of_is_row; auto).
  rewrite <- E. replace (dot (of_blocks c) (map (begins p [] []) ws)) with (paid p (of_blocks c) ws l).
  2:{ rewrite paid_mass. f_equal. apply map_ext_in. intros w J. rewrite begins_nothing. apply L; [|auto].
      apply words_spec in J. lia. }
  clear E L. subst l process. cbn [sampler endings] in *. apply andb_prop in P as [P Q]. apply andb_prop in P as [_ P].
  apply andb_prop in P as [P _]. cbn iota in Q. revert P Q H. set (D := drafted I).
  generalize (D []) as ds. generalize (of_drafts c) as us.
  induction ks as [|k ks IH]; intros us [|[m d] ds] P Q H; simpl in Q; try discriminate.
  - destruct us; [|discriminate]. unfold accepted, paid, dot. simpl. replace (add zero zero) with zero by ring. apply same_not_less.
  - destruct us as [|u us]; [discriminate|]. apply andb_prop in P as [P1 P2]. apply andb_prop in Q as [Q1 Q2].
    apply andb_prop in H as [H1 H2]. cbn [zip concat]. rewrite accepted_app, paid_app.
    change (dot (map fst ((m, d) :: ds)) (u :: us)) with (add (mul m u) (dot (map fst ds) us)).
    match goal with |- le (add ?a ?b) (add (add ?x ?y) (add ?z ?w)) =>
      replace (add (add x y) (add z w)) with (add (add x z) (add y w)) by ring end.
    apply less_add; [|apply IH; auto]. assert (F : Forall (fair p (of_blocks c) ws u) (endings D (mul one m) k)).
    { apply (fair_endings V p (of_blocks c) ws R T D d); auto.
      - intros n x J X. rewrite forallb_forall in H1. specialize (H1 n J). rewrite forallb_forall in H1.
        apply negb_true_iff, H1, in_seq. lia.
      - replace (mul one m) with m by ring. apply negb_true_iff. auto. }
    apply fair_at_most in F. rewrite (endings_mass V true D k (Some d) (mul one m) Q1) in F.
    replace (mul m u) with (mul (mul one m) u) by ring. exact F.
Qed.

Definition optimal (I : instance) (c : coupling) : Prop :=
  let ds := drafted I [] in
  let ys := blocks (row_of (target I)) (depth I) [] in
  let value F := worth F (rewards ds ys) in
  match plan c with
  | Some F =>
      couples (map fst ds) (map fst ys) F = true /\ value F = optimum c /\
      forall G, couples (map fst ds) (map fst ys) G = true -> le (value G) (optimum c)
  | None => bounded I (optimum c)
  end.

Lemma optimum_sound : forall I c, sound_instance I = true -> check_optimum I c = true -> optimal I c.
Proof.
  intros I c S H. unfold check_optimum in H. unfold optimal. destruct (plan c) as [F|]; [|apply unbeaten_sound; auto].
  destruct (best_sound _ _ _ _ _ H) as (C & W & B). split; [exact C|split; [exact W|]].
  intros G K. apply B; auto. unfold couples in K. apply andb_prop in K as [K _]. apply both_length in K.
  unfold rewards. rewrite map_length in *. auto.
Qed.

(** ** The theorem

    If the instance is sound and the checker accepts, the process of the certificate is a sampler: it draws a draft
    with the drafter's probability and verifies it by coins and draws that are distributions; in a single call it stops
    at nodes of that draft, with the mean claimed.  The verdict holds of the law of its text, which goes on by the
    extra row and the target.  The law is the target's: every word of more than [longest] tokens has the target's
    probability (those of shorter ones are sums of these).  Or it is not: the word named has another.  Or the process is
    no sampler: what stands at the end of some path of positive probability is none. *)
Definition holds (I : instance) (K : certificate) : Prop :=
  let p := row_of (target I) in
  let once := calls K =? 0 in
  let process := Again [] (verified K) in
  let l := endings (drafted I) one process in
  let samples := sampler (vocab I) once (drafted I) None process = true /\ sum (map fst l) = one /\
    match tau K with Some mean => calls K = 0 /\ accepted l = mean | None => True end in
  (forall c, is_row (vocab I) (p c) = true) /\
  match found K with
  | None => if invalid K then broken (vocab I) once (drafted I) None process
      else samples /\ forall u, longest I K < length u -> Forall (fun x => x < vocab I) u -> mass p l [] u = follows p [] u
  | Some (u, (got, want)) => samples /\ (calls K = 0 \/ length u <= longest I K) /\
      mass p l [] u = got /\ follows p [] u = want /\ got <> want
  end.

Lemma says_spec : forall P (v : wrong P) x y, says v x y = true ->
  match v with None => x = y | Some (_, (got, want)) => x = got /\ y = want /\ got <> want end.
Proof.
  intros P [[u [got want]]|] x y H; simpl in H; [|apply equal_spec; auto].
  apply andb_prop in H as [H N]. apply andb_prop in H as [G W]. apply equal_spec in G, W. repeat split; auto.
  intros ->. apply negb_true_iff in N. assert (equal want want = true) by (apply equal_spec; auto). congruence.
Qed.

Theorem check_sound : forall I K, sound_instance I = true -> check I K = true -> holds I K.
Proof.
  intros I K S H. unfold holds. apply andb_prop in S as [S _].
  split; [intros; apply row_of_is_row; auto|]. set (p := row_of (target I)).
  set (l := endings _ _ _). unfold check in H. fold p l in H. apply andb_prop in H as [A H].
  assert (M : sampler (vocab I) (calls K =? 0) (drafted I) None (Again [] (verified K)) = true ->
    sum (map fst l) = one /\ match tau K with Some mean => calls K = 0 /\ accepted l = mean | None => True end).
  { intros G. split; [exact (endings_mass _ _ _ _ _ one G)|]. destruct (tau K); auto.
    apply andb_prop in A as [A1 A2]. apply Nat.eqb_eq in A1. apply equal_spec in A2. auto. }
  destruct (found K) as [[u [got want]]|]; [|destruct (invalid K)].
  - apply andb_prop in H as [H W]. apply andb_prop in H as [S' L]. split; [split; [exact S'|exact (M S')]|].
    apply orb_true_iff in L. rewrite Nat.eqb_eq, Nat.leb_le in L. split; [exact L|exact (says_spec _ _ _ _ W)].
  - apply fault_broken. exact H.
  - apply andb_prop in H as [G H]. split; [split; [exact G|exact (M G)]|].
    intros u L T. pose proof (right_sound p _ _ _ _ _ _ H u L T) as E.
    transitivity (add (mass p l [] u) (mul zero (follows p [] u))); [ring|].
    etransitivity; [exact E|ring].
Qed.

(** A lossless law of one call has at most a mean that is accepted as a bound, which is the optimum if they are equal. *)
Corollary between : forall I K mean most, holds I K -> calls K = 0 -> found K = None -> invalid K = false -> tau K = Some mean ->
  bounded I most -> le mean most.
Proof.
  intros I K mean most [_ H] C F V M B. rewrite F, V in H. destruct H as ((P & _ & T) & L). rewrite M in T. rewrite C in P.
  destruct T as [_ <-].
  apply B; auto. unfold longest in L. rewrite C in L. intros u U. apply L. lia.
Qed.

(** ** Batches

    For every tuple of drafts, one of each request, each request's verification is a sampler that stops at nodes of its
    own draft.  [emitted]: the probability that the requests' texts begin with these words, one of each. *)
Fixpoint each_says (rs : list instance) (ks : list verification) (us : list context) : t :=
  match rs, ks, us with
  | i :: rs, k :: ks, u :: us => mul (mass (row_of (target i)) (endings (drafted i) one k) [] u) (each_says rs ks us)
  | _, _, _ => one
  end.
Fixpoint each_follows (rs : list instance) (us : list context) : t :=
  match rs, us with
  | i :: rs, u :: us => mul (follows (row_of (target i)) [] u) (each_follows rs us)
  | _, _ => one
  end.
Definition all_drafts (B : batch) : law (list draft) := each_of (map (fun i => drafted i []) (requests B)).
Definition emitted (B : batch) (us : list context) : t :=
  sum (zip (fun ks '(w, _) => mul w (each_says (requests B) ks us)) (judged B) (all_drafts B)).

Definition joint_holds (B : batch) : Prop :=
  Forall (fun i => forall c, is_row (vocab i) (row_of (target i) c) = true) (requests B) /\
  is_distribution (map fst (all_drafts B)) /\
  Forall2 (fun ks d => Forall2 (fun k ok => ok k = true) ks
    (zip (fun i d => sampler (vocab i) true (drafted i) (Some d)) (requests B) (snd d))) (judged B) (all_drafts B) /\
  match claim B with
  | None => forall us, Forall2 (fun i u => length u = S (depth i) /\ Forall (fun x => x < vocab i) u) (requests B) us ->
      emitted B us = each_follows (requests B) us
  | Some (us, (got, want)) => emitted B us = got /\ each_follows (requests B) us = want /\ got <> want
  end.

Fixpoint picked (rs : list row) (xs : list nat) : t :=
  match xs with [] => one | x :: xs => mul (at_token (nth 0 rs []) x) (picked (skipn 1 rs) xs) end.

Lemma sum_cons : forall x l, sum (x :: l) = add x (sum l).
Proof. reflexivity. Qed.

Lemma picked_step : forall x xs (l : list (t * list row)),
  sum (map (fun c => mul (fst c) (picked (snd c) xs)) (filter (fun '(w, _) => negb (equal w zero))
    (map (fun '(w, rs) => (mul w (at_token (nth 0 rs []) x), skipn 1 rs)) l))) =
  sum (map (fun c => mul (fst c) (picked (snd c) (x :: xs))) l).
Proof.
  intros x xs. induction l as [|[w rs] l IH]; auto. cbn [map filter].
  rewrite (sum_cons (mul _ _)), <- IH. destruct (equal (mul w (at_token (nth 0 rs []) x)) zero) eqn:E; cbn [negb map fst snd picked].
  - apply equal_spec in E. match goal with |- _ = add (mul w (mul ?a ?b)) _ => replace (mul w (mul a b)) with (mul (mul w a) b) by ring end.
    rewrite E. ring.
  - rewrite sum_cons. ring.
Qed.

Lemma joint_sound : forall h ps l want, joint h ps l want = true -> forall xs, Forall2 (fun p x => x < length p) ps xs ->
  h (sum (map (fun c => mul (fst c) (picked (snd c) xs)) l)) (mul want (picked ps xs)) = true.
Proof.
  intros h. induction ps as [|p ps IH]; intros l want H xs X; inversion X; subst; cbn [joint] in H.
  - replace (mul want (picked [] [])) with want by (simpl; ring).
    replace (map (fun c => mul (fst c) (picked (snd c) [])) l) with (map fst l); auto.
    apply map_ext. intros c. simpl. ring.
  - rewrite forallb_forall in H. specialize (IH _ _ (H y ltac:(apply in_seq; lia)) l' ltac:(auto)).
    rewrite picked_step in IH. replace (mul want (picked (p :: ps) (y :: l'))) with (mul (mul want (at_token p y)) (picked ps l'))
      by (simpl; ring). exact IH.
Qed.

(** [xs]: the places of the words [us] among those that are [asked]. *)
Definition placed_at (asked : list (list context)) (us : list context) (xs : list nat) : Prop :=
  length us = length xs /\ Forall2 (fun ws '(u, x) => nth_error ws x = Some u) asked (combine us xs).

Lemma picked_says : forall rs asked us xs, placed_at asked us xs -> forall ks, length ks = length rs ->
  picked (zip (fun f k => f k) (zip (fun i us k => map (mass (row_of (target i)) (endings (drafted i) one k) []) us) rs asked) ks)
    (zip (fun _ x => x) rs xs) = each_says rs ks us.
Proof.
  induction rs as [|i rs IH]; intros asked us xs [L A] [|k ks] K; simpl in K; try discriminate; auto.
  destruct us as [|u us], xs as [|x xs]; simpl in L; try discriminate; auto. simpl in A. inversion A; subst.
  cbn [zip picked each_says]. cbn [nth]. change (skipn 1 (?a :: ?l)) with l. rewrite (IH _ us xs) by (try split; auto). f_equal.
  unfold at_token. erewrite nth_error_nth; [reflexivity|]. apply map_nth_error. auto.
Qed.

Lemma picked_follows : forall rs asked us xs, placed_at asked us xs ->
  picked (zip (fun i => map (follows (row_of (target i)) [])) rs asked) (zip (fun _ x => x) rs xs) = each_follows rs us /\
  Forall2 (fun p x => x < length p) (zip (fun i => map (follows (row_of (target i)) [])) rs asked) (zip (fun _ x => x) rs xs).
Proof.
  induction rs as [|i rs IH]; intros asked us xs [L A]; [split; [reflexivity|constructor]|].
  destruct us as [|u us], xs as [|x xs]; simpl in L; try discriminate; simpl in A; inversion A; subst.
  - split; [reflexivity|constructor].
  - destruct (IH l us xs) as [P F]; [split; auto|]. cbn [zip picked each_follows nth].
    change (skipn 1 (?a :: ?l)) with l. rewrite P. split.
    + f_equal. unfold at_token. erewrite nth_error_nth; [reflexivity|]. apply map_nth_error. auto.
    + constructor; auto. rewrite map_length. apply nth_error_Some. congruence.
Qed.

Lemma each_of_length : forall A (ms : list (law A)) e, In e (each_of ms) -> length (snd e) = length ms.
Proof.
  intros A. induction ms as [|m ms IH]; intros e H; [destruct H as [<-|[]]; reflexivity|].
  apply in_flat_map in H as ([w a] & _ & H). apply in_map_iff in H as ([v l] & <- & H).
  apply in_flat_map in H as ([v' l'] & I & H). apply in_map_iff in H as ([v'' l''] & E & [J|[]]).
  injection E as <- <-. injection J as <- <-. simpl. f_equal. exact (IH _ I).
Qed.

Lemma both_Forall2 : forall A B (f : A -> B -> bool) l m, both f l m = true -> Forall2 (fun a b => f a b = true) l m.
Proof.
  intros A B f. induction l as [|a l IH]; intros [|b m] H; simpl in H; try discriminate; constructor;
    apply andb_prop in H as [H1 H2]; auto.
Qed.

Lemma same_length : forall A B (P : A -> B -> Prop) l m, Forall2 P l m -> length l = length m.
Proof. induction 1; simpl; auto. Qed.

Lemma zip_length : forall A B C (f : A -> B -> C) l m, length m = length l -> length (zip f l m) = length l.
Proof. intros A B C f. induction l as [|a l IH]; intros [|b m] E; simpl in *; try discriminate; auto. Qed.

Lemma words_In : forall V n u, length u = n -> Forall (fun x => x < V) u -> In u (words V n).
Proof.
  intros V.
  assert (G : forall n a u, length u = n -> Forall (fun x => x < V) u ->
    In u (fold_right (fun _ => flat_map (fun u => map (fun x => u ++ [x]) (seq 0 V))) [[]] (seq a n))); [|intros; apply G; auto].
  induction n as [|n IH]; intros a u L T; [destruct u; [left; auto|discriminate]|].
  simpl. apply in_flat_map. destruct (@exists_last _ u) as (v & x & ->); [intros ->; discriminate|].
  rewrite app_length in L. simpl in L. apply Forall_app in T as [T1 T2]. inversion T2; subst. exists v. split; [apply IH; auto; lia|].
  apply in_map_iff. exists x. split; auto. apply in_seq. lia.
Qed.

Lemma batch_sound : forall B, check_batch B = true -> joint_holds B.
Proof.
  intros B H. unfold check_batch in H. cbv zeta in H. fold (all_drafts B) in H.
  apply andb_prop in H as [H J]. apply andb_prop in H as [H S]. apply andb_prop in H as [R D].
  apply both_Forall2 in S. apply distribution_spec in D.
  set (asked := on (claim B) _ _) in J.
  assert (T : Forall2 (fun ks d => Forall2 (fun k ok => ok k = true) ks
    (zip (fun i d => sampler (vocab i) true (drafted i) (Some d)) (requests B) (snd d))) (judged B) (all_drafts B)).
  { clear - S. induction S as [|ks [w ds] l m H _ IH]; constructor; auto. apply both_Forall2 in H. exact H. }
  assert (W : forall us xs, placed_at asked us xs -> says (claim B) (emitted B us) (each_follows (requests B) us) = true).
  { intros us xs P. destruct (picked_follows (requests B) asked us xs P) as [Q F].
    pose proof (joint_sound _ _ _ _ J _ F) as G. unfold instance in *. rewrite Q in G.
    match type of G with says _ ?a _ = true => assert (X : a = emitted B us); [|rewrite <- X; refine (eq_trans (f_equal (says (claim B) _) _) G); ring] end. clear G. unfold emitted, instance in *. f_equal.
    assert (L : Forall (fun d => length (snd d) = length (requests B)) (all_drafts B)).
    { rewrite Forall_forall. intros d I. rewrite (each_of_length _ _ _ I). apply map_length. }
    clear - T P L. revert T L. generalize (judged B) as kss, (all_drafts B) as dss. intros kss dss T. induction T as [|ks [w ds] l m H _ IH]; intros L; inversion L; subst; auto.
    cbn [zip map fst snd]. f_equal; auto. f_equal. apply (picked_says _ _ _ xs); auto. apply same_length in H.
    etransitivity; [exact H|]. apply zip_length. exact H2. }
  split; [|split; [exact D|split; [exact T|]]].
  - rewrite forallb_forall in R. rewrite Forall_forall. intros i I c. specialize (R i I). apply andb_prop in R as [R _].
    apply row_of_is_row. auto.
  - unfold asked in W. clear asked J. destruct (claim B) as [[us [got want]]|].
    + apply (says_spec _ (Some (us, (got, want)))). apply (W us (map (fun _ => 0) us)). split; [symmetry; apply map_length|].
      clear. induction us as [|u us IH]; simpl; constructor; auto.
    + intros us U. apply (says_spec (list context) None).
      assert (P : exists xs, placed_at (map (fun i => words (vocab i) (Datatypes.S (depth i))) (requests B)) us xs).
      { clear - U. induction U as [|i u rs us [E V] _ (xs & L & A)]; [exists []; split; constructor|].
        destruct (In_nth_error _ _ (words_In _ _ _ E V)) as (x & X). exists (x :: xs). split; [simpl; congruence|].
        simpl. constructor; auto. }
      destruct P as (xs & P). exact (W us xs P).
Qed.

(** Of a file, line by line: what is accepted holds of the instance begun last; what an accepted proof of a size means
    is proved in [CellsSound.v]. *)
Theorem line_sound : forall now v, match now with Some i => sound_instance i = true | None => True end ->
  match line now v with
  | Some (Begun i) => instance_of v = Some i /\ sound_instance i = true
  | Some (Accepted K) => certificate_of v = Some K /\ exists i, now = Some i /\ holds i K
  | Some (Optimal c) => coupling_of v = Some c /\ exists i, now = Some i /\ optimal i c
  | Some (Joint B) => batch_of v = Some B /\ joint_holds B
  | Some (Proved K) => proof_of v = Some K /\ D.check K = true
  | None => True
  end.
Proof.
  intros now v N. unfold line.
  destruct (instance_of v) as [i|]; [simpl; destruct (sound_instance i) eqn:S; auto|].
  destruct (batch_of v) as [B|]; [simpl; destruct (check_batch B) eqn:H; auto; split; auto; apply batch_sound; auto|].
  destruct (proof_of v) as [K|]; [simpl; destruct (D.check K) eqn:H; auto|].
  destruct now as [i|]; [|exact I]. simpl.
  destruct (certificate_of v) as [K|]; simpl.
  - destruct (check i K) eqn:H; auto. split; auto. exists i. split; auto. apply check_sound; auto.
  - destruct (coupling_of v) as [c|]; simpl; auto.
    destruct (check_optimum i c) eqn:H; auto. split; auto. exists i. split; auto. apply optimum_sound; auto.
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
  Lemma le_less : forall x y : Qc, less y x = false <-> (x <= y)%Qc.
  Proof. intros. unfold less. rewrite negb_false_iff. apply Qle_bool_iff. Qed.
  Lemma same_not_less : forall x, less x x = false.
  Proof. intros. apply le_less, Qcle_refl. Qed.
  Lemma less_add : forall a b c d, less b a = false -> less d c = false -> less (add b d) (add a c) = false.
  Proof. intros a b c d. rewrite !le_less. apply Qcplus_le_compat. Qed.
  Lemma less_mul : forall a b c, less a zero = false -> less c b = false -> less (mul a c) (mul a b) = false.
  Proof.
    intros a b c. rewrite !le_less. intros A B. unfold mul. rewrite (Qcmult_comm a b), (Qcmult_comm a c).
    apply Qcmult_le_compat_r; auto.
  Qed.
End Rationals.
Module Proved := Sound Rationals.
Print Assumptions Proved.line_sound.
