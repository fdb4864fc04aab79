(** What it means that the checker accepts a proof of one size: for all real rows the law is the target's. *)

Require Import String List Arith Bool Lia Reals Lra.
Require Import Certificate Cells.
Import ListNotations.
Local Open Scope R_scope.

Module Type EMBEDDED.
  Include NUMBER.
  Parameter inj : t -> R.
  Axiom inj_zero : inj zero = 0.
  Axiom inj_one : inj one = 1.
  Axiom inj_add : forall x y, inj (add x y) = inj x + inj y.
  Axiom inj_sub : forall x y, inj (sub x y) = inj x - inj y.
  Axiom inj_mul : forall x y, inj (mul x y) = inj x * inj y.
  Axiom inj_div : forall x y, inj y <> 0 -> inj (div x y) = inj x / inj y.
  Axiom inj_equal : forall x y, equal x y = true <-> inj x = inj y.
  Axiom inj_less : forall x y, less x y = true <-> inj x < inj y.
End EMBEDDED.

Module Sound (N : EMBEDDED).
Module K := Cells.Over N.
Import N K.

Lemma same_word_eq : forall a b, same_word a b = true -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b] H; simpl in H; try discriminate; auto.
  apply andb_prop in H as [E H]. apply Nat.eqb_eq in E. f_equal; auto.
Qed.

Lemma same_word_refl : forall a, same_word a a = true.
Proof. induction a; simpl; auto. rewrite Nat.eqb_refl. auto. Qed.

Lemma both_words : forall a b, both same_word a b = true -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b] H; simpl in H; try discriminate; auto.
  apply andb_prop in H as [E H]. apply same_word_eq in E. f_equal; auto.
Qed.

Lemma in_words_In : forall w l, in_words w l = true <-> In w l.
Proof.
  intros w l. unfold in_words. rewrite existsb_exists. split.
  - intros (x & I & E). apply same_word_eq in E. subst. auto.
  - intros I. exists w. split; auto. apply same_word_refl.
Qed.

(** ** Signs *)

Definition sgn (x : R) : nat := if Rlt_dec x 0 then 0%nat else if Rlt_dec 0 x then 2%nat else 1%nat.

Lemma sgn_cases : forall x, (x < 0 /\ sgn x = 0%nat) \/ (x = 0 /\ sgn x = 1%nat) \/ (0 < x /\ sgn x = 2%nat).
Proof. intros x. unfold sgn. destruct (Rlt_dec x 0); [auto|]. destruct (Rlt_dec 0 x); [auto|]. right. left. split; [lra|auto]. Qed.

Lemma sgn_neg : forall x, x < 0 -> sgn x = 0%nat.
Proof. intros x H. destruct (sgn_cases x) as [[A B]|[[A B]|[A B]]]; auto; lra. Qed.
Lemma sgn_zero : forall x, x = 0 -> sgn x = 1%nat.
Proof. intros x H. destruct (sgn_cases x) as [[A B]|[[A B]|[A B]]]; auto; lra. Qed.
Lemma sgn_pos : forall x, 0 < x -> sgn x = 2%nat.
Proof. intros x H. destruct (sgn_cases x) as [[A B]|[[A B]|[A B]]]; auto; lra. Qed.

Lemma sgn_any : forall x, In (sgn x) any.
Proof. intros x. destruct (sgn_cases x) as [[_ ->]|[[_ ->]|[_ ->]]]; simpl; auto. Qed.

Lemma sgn_mult : forall x y, sgn (x * y) = sign_times (sgn x) (sgn y).
Proof.
  intros x y. destruct (sgn_cases x) as [[A ->]|[[A ->]|[A ->]]]; destruct (sgn_cases y) as [[B ->]|[[B ->]|[B ->]]];
    unfold sign_times; simpl; first [apply sgn_zero; subst; lra|apply sgn_neg; nra|apply sgn_pos; nra].
Qed.

Lemma is_in_In : forall s x, is_in s x = true <-> In x s.
Proof.
  intros s x. unfold is_in. rewrite existsb_exists. split.
  - intros (y & I & E). apply Nat.eqb_eq in E. subst. auto.
  - intros I. exists x. split; auto. apply Nat.eqb_refl.
Qed.

Lemma within_In : forall s u x, within s u = true -> In x s -> In x u.
Proof. intros s u x H I. unfold within in H. rewrite forallb_forall in H. apply is_in_In. auto. Qed.

Lemma outside_In : forall s u x, In x (outside s u) <-> In x s /\ ~ In x u.
Proof.
  intros s u x. unfold outside. rewrite filter_In, negb_true_iff, <- (is_in_In u). rewrite not_true_iff_false. tauto.
Qed.

Lemma signs_times_In : forall s u x y, In x s -> In y u -> In (sign_times x y) (signs_times s u).
Proof. intros s u x y A B. unfold signs_times. apply in_flat_map. exists x. split; auto. apply in_map. auto. Qed.

Lemma sgn_flipped : forall x s, In (sgn (- x)) s -> In (sgn x) (map (fun x => 2 - x)%nat s).
Proof.
  intros x s H. replace (sgn x) with (2 - sgn (- x))%nat; [apply in_map with (f := fun x => (2 - x)%nat); auto|].
  destruct (sgn_cases x) as [[A ->]|[[A ->]|[A ->]]]; [rewrite sgn_pos|rewrite sgn_zero|rewrite sgn_neg]; auto; lra.
Qed.

Section Point.
Variable env : word -> R.

(** ** Polynomials *)

Definition ev_m (a : monomial) : R := fold_right (fun v r => env v * r) 1 a.
Definition ev (p : polynomial) : R := fold_right (fun '(c, a) r => inj c * ev_m a + r) 0 p.
Definition evs (l : list polynomial) : R := fold_right (fun p r => ev p * r) 1 l.

Lemma insert_m_ev : forall v a, ev_m (insert same_word earlier (fun v w a => v :: w :: a) v a) = env v * ev_m a.
Proof.
  intros v. induction a as [|w a IH]; simpl; auto. destruct (same_word v w); auto. destruct (earlier w v); simpl; auto.
  rewrite IH. ring.
Qed.

Lemma plus_ev : forall p q, ev (plus p q) = ev p + ev q.
Proof.
  intros p q. unfold plus.
  set (same := fun a b : t * monomial => both same_word (snd a) (snd b)).
  set (less := fun a b : t * monomial => precedes same_word earlier (snd a) (snd b)).
  set (joined := fun (a b : t * monomial) (p : polynomial) => let c := add (fst a) (fst b) in if equal c zero then p else (c, snd a) :: p).
  assert (G : forall x l, ev (insert same less joined x l) = inj (fst x) * ev_m (snd x) + ev l).
  { intros [c a]. induction l as [|[d b] l IH]; [reflexivity|]. cbn [insert]. destruct (same (c, a) (d, b)) eqn:E.
    - apply both_words in E. cbn [fst snd] in E. subst b. unfold joined. cbn [fst snd].
      destruct (equal (add c d) zero) eqn:Z; simpl.
      + apply inj_equal in Z. rewrite inj_add, inj_zero in Z. replace (inj d) with (- inj c) by lra. ring.
      + rewrite inj_add. ring.
    - destruct (less (d, b) (c, a)); [|reflexivity].
      change (inj d * ev_m b + ev (insert same less joined (c, a) l) = inj c * ev_m a + (inj d * ev_m b + ev l)).
      rewrite IH. simpl. ring. }
  clearbody same less joined. induction q as [|[c a] q IH]; simpl; [ring|]. rewrite G, IH. simpl. ring.
Qed.

Lemma term_ev : forall c a p, ev (term c a p) = inj c * ev_m a * ev p.
Proof.
  intros c a. induction p as [|[d b] p IH]; simpl; [ring|]. rewrite IH, inj_mul.
  assert (M : ev_m (fold_right (insert same_word earlier (fun v w a => v :: w :: a)) b a) = ev_m a * ev_m b).
  { clear. induction a as [|v a IH]; simpl; [ring|]. rewrite insert_m_ev, IH. ring. }
  rewrite M. ring.
Qed.

Lemma times_ev : forall p q, ev (times p q) = ev p * ev q.
Proof. intros p q. induction p as [|[c a] p IH]; simpl; [ring|]. rewrite plus_ev, term_ev, IH. ring. Qed.

Lemma minus_ev : forall p q, ev (minus p q) = ev p - ev q.
Proof. intros p q. unfold minus. rewrite plus_ev, term_ev, inj_sub, inj_zero, inj_one. simpl. ring. Qed.

Lemma one_ev : ev one_p = 1.
Proof. simpl. rewrite inj_one. ring. Qed.

Lemma variable_ev : forall v, ev (variable v) = env v.
Proof. intros v. simpl. rewrite inj_one. ring. Qed.

Lemma product_ev : forall l, ev (product l) = evs l.
Proof. induction l as [|p l IH]; [apply one_ev|]. change (product (p :: l)) with (times p (product l)). rewrite times_ev, IH. auto. Qed.

Lemma total_ev : forall l, ev (total l) = fold_right Rplus 0 (map ev l).
Proof. induction l as [|p l IH]; auto. change (total (p :: l)) with (plus p (total l)). rewrite plus_ev, IH. auto. Qed.

Lemma same_p_ev : forall p q, same_p p q = true -> ev p = ev q.
Proof.
  induction p as [|[c a] p IH]; intros [|[d b] q] H; simpl in *; try discriminate; auto.
  apply andb_prop in H as [E H]. apply andb_prop in E as [A E]. apply both_words in A. apply inj_equal in E. subst.
  rewrite E, (IH q); auto.
Qed.

Lemma no_term_ev : forall p, no_term p = true -> ev p = 0.
Proof. intros p H. apply same_p_ev in H. auto. Qed.

Lemma put_ev : forall v g p, env v = ev g -> ev (put v g p) = ev p.
Proof.
  intros v g p E. unfold put. destruct (existsb _ p); auto. rewrite total_ev.
  induction p as [|[c a] p IH]; auto. cbn [map fold_right]. rewrite IH, times_ev, product_ev.
  change (ev ((c, a) :: p)) with (inj c * ev_m a + ev p). change (ev [(c, [])]) with (inj c * 1 + 0).
  rewrite Rplus_0_r, Rmult_1_r. do 2 f_equal.
  induction a as [|w a IHa]; simpl; auto. rewrite IHa. f_equal. destruct (same_word w v) eqn:W.
  - apply same_word_eq in W. subst. auto.
  - apply variable_ev.
Qed.

Lemma rest_ev : forall steps g p, ev g = 0 -> ev (rest steps g p) = ev p.
Proof.
  induction steps as [|steps IH]; intros g p Z; simpl; auto. destruct p as [|[c b] r]; auto.
  cbv zeta. destruct (_ =? _)%nat.
  - rewrite IH by auto. rewrite minus_ev, term_ev, Z. ring.
  - simpl. rewrite IH by auto. auto.
Qed.

(** ** Cells *)

Definition true_of (f : fact) : Prop := In (sgn (ev (fst f))) (snd f).
Definition holds (F : cell) : Prop := Forall true_of (fst F) /\ Forall (fun e => env (fst e) = ev (snd e)) (snd F).

Lemma reduce_ev : forall F p, holds F -> ev (reduce F p) = ev p.
Proof.
  intros [f e] p [_ H]. unfold reduce. simpl in *. induction e as [|[v g] e IH]; simpl; auto. inversion H; subst.
  rewrite put_ev; auto.
Qed.

Lemma rest_in_ev : forall steps F p, holds F -> ev (rest_in steps F p) = ev p.
Proof.
  intros steps F p [H _]. unfold rest_in. induction H as [|[g u] l T _ IH]; auto. cbn [fold_right].
  destruct (within u zero_only) eqn:W; auto. rewrite rest_ev; auto. apply (within_In _ _ _ W) in T. destruct T as [T|[]].
  cbn [fst] in T. destruct (sgn_cases (ev g)) as [[_ X]|[[X _]|[_ X]]]; auto; rewrite X in T; discriminate T.
Qed.

Lemma not_less : forall x y, less x y = false -> inj y <= inj x.
Proof. intros x y H. destruct (Rlt_dec (inj x) (inj y)) as [L|L]; [apply inj_less in L; congruence|lra]. Qed.

Lemma turned_In : forall p s, In (sgn (ev (monic p))) s -> In (sgn (ev p)) (turned p s).
Proof.
  intros p s H. unfold turned, monic in *. destruct (less (lead p) zero) eqn:L.
  - apply inj_less in L. rewrite inj_zero in L. apply sgn_flipped.
    destruct (equal (lead p) one) eqn:O; [apply inj_equal in O; rewrite inj_one in O; lra|].
    destruct (equal (lead p) zero) eqn:Z; [apply inj_equal in Z; rewrite inj_zero in Z; lra|].
    simpl in H. rewrite term_ev, inj_div, inj_one in H by lra. simpl in H.
    replace (sgn (- ev p)) with (sgn (1 / inj (lead p) * 1 * ev p)); auto.
    replace (1 / inj (lead p) * 1 * ev p) with ((- / inj (lead p)) * (- ev p)) by (field; lra).
    rewrite sgn_mult, (sgn_pos (- / inj (lead p))).
    + destruct (sgn_cases (- ev p)) as [[_ ->]|[[_ ->]|[_ ->]]]; reflexivity.
    + assert (/ inj (lead p) < 0) by (apply Rinv_lt_0_compat; auto). lra.
  - apply not_less in L. rewrite inj_zero in L.
    destruct (equal (lead p) one); auto. destruct (equal (lead p) zero) eqn:Z; auto. simpl in H.
    assert (0 < inj (lead p)).
    { destruct L as [L|L]; auto. exfalso. assert (equal (lead p) zero = true) by (apply inj_equal; rewrite inj_zero; lra). congruence. }
    rewrite term_ev, inj_div, inj_one in H by lra. simpl in H.
    replace (1 / inj (lead p) * 1 * ev p) with (/ inj (lead p) * ev p) in H by (field; lra).
    rewrite sgn_mult, (sgn_pos (/ inj (lead p))) in H by (apply Rinv_0_lt_compat; auto).
    destruct (sgn_cases (ev p)) as [[_ E]|[[_ E]|[_ E]]]; rewrite E in *; auto.
Qed.

Lemma turned_back : forall p s, In (sgn (ev p)) s -> In (sgn (ev (monic p))) (turned p s).
Proof.
  intros p s H. unfold turned, monic. destruct (less (lead p) zero) eqn:L.
  - apply inj_less in L. rewrite inj_zero in L. apply sgn_flipped.
    destruct (equal (lead p) one) eqn:O; [apply inj_equal in O; rewrite inj_one in O; lra|].
    destruct (equal (lead p) zero) eqn:Z; [apply inj_equal in Z; rewrite inj_zero in Z; lra|].
    simpl. rewrite term_ev, inj_div, inj_one by lra. simpl.
    replace (- (1 / inj (lead p) * 1 * ev p)) with ((- / inj (lead p)) * ev p) by (field; lra).
    rewrite sgn_mult, (sgn_pos (- / inj (lead p))).
    + destruct (sgn_cases (ev p)) as [[_ E]|[[_ E]|[_ E]]]; rewrite E in *; auto.
    + assert (/ inj (lead p) < 0) by (apply Rinv_lt_0_compat; auto). lra.
  - apply not_less in L. rewrite inj_zero in L.
    destruct (equal (lead p) one); auto. destruct (equal (lead p) zero) eqn:Z; auto. simpl.
    assert (0 < inj (lead p)).
    { destruct L as [L|L]; auto. exfalso. assert (equal (lead p) zero = true) by (apply inj_equal; rewrite inj_zero; lra). congruence. }
    rewrite term_ev, inj_div, inj_one by lra. simpl.
    replace (1 / inj (lead p) * 1 * ev p) with (/ inj (lead p) * ev p) by (field; lra).
    rewrite sgn_mult, (sgn_pos (/ inj (lead p))) by (apply Rinv_0_lt_compat; auto).
    destruct (sgn_cases (ev p)) as [[_ E]|[[_ E]|[_ E]]]; rewrite E in *; auto.
Qed.

Lemma monic_zero : forall p, ev p = 0 -> ev (monic p) = 0.
Proof. intros p H. unfold monic. destruct (_ || _); auto. rewrite term_ev, H. ring. Qed.

Lemma may_be_In : forall F p, holds F -> In (sgn (ev p)) (may_be F p).
Proof.
  intros F p H. unfold may_be. rewrite <- (reduce_ev F p H). destruct (no_term (reduce F p)) eqn:Z.
  - apply no_term_ev in Z. rewrite sgn_zero by auto. simpl. auto.
  - apply turned_In. destruct (find _ _) as [f|] eqn:E; simpl; [|apply (sgn_any (ev (monic (reduce F p))))].
    apply find_some in E as [I S]. apply same_p_ev in S. rewrite <- S. destruct I as [<-|I].
    + cbn [fst]. rewrite one_ev, sgn_pos by lra. simpl. auto.
    + destruct H as [H _]. rewrite Forall_forall in H. apply (H _ I).
Qed.

(** ** What excludes each other *)

Definition clause_true (k : clause) : Prop := ~ Forall true_of (fst k).

Lemma refuted_true : forall k, refuted k = true -> snd k <> None -> clause_true k.
Proof.
  intros [ls [l|]] H N; [|elim N; reflexivity]. clear N. unfold refuted, clause_true in *. cbn [fst snd on] in *. intros T.
  cbv zeta in H.
  apply andb_prop in H as [H S]. apply andb_prop in H as [Z C]. apply no_term_ev in Z. rewrite total_ev, map_map in Z.
  assert (D : forall i s, within (snd (nth i ls ([], zero_only))) s = true -> In (sgn (ev (fst (nth i ls ([], zero_only))))) s).
  { intros i s W. apply (within_In _ _ _ W). destruct (nth_in_or_default i ls ([], zero_only)) as [I| ->].
    - rewrite Forall_forall in T. apply (T _ I).
    - cbn [fst snd]. rewrite sgn_zero by auto. simpl. auto. }
  clear T.
  set (value := fun x : t * list nat => ev (let '(c, is) := x in term c [] (product (map (fun i => fst (nth i ls ([], zero_only))) is)))) in *.
  assert (V : forall c is, value (c, is) = inj c * evs (map (fun i => fst (nth i ls ([], zero_only))) is)).
  { intros c is. unfold value. rewrite term_ev, product_ev. simpl. ring. }
  assert (E : forall x, In x l -> 0 <= value x).
  { intros [c is] I. rewrite forallb_forall in C. specialize (C _ I). cbv beta iota in C. rewrite V. apply orb_prop in C as [C|C].
    - assert (Q : evs (map (fun i => fst (nth i ls ([], zero_only))) is) = 0); [|rewrite Q; lra]. clear - C D. induction is as [|i is IH]; simpl in *; [discriminate|].
      apply orb_prop in C as [C|C]; [|rewrite IH by auto; ring]. apply D in C. simpl in C. destruct C as [C|[]].
      destruct (sgn_cases (ev (fst (nth i ls ([], zero_only))))) as [[_ B]|[[A _]|[_ B]]]; [rewrite B in C; discriminate C|rewrite A; ring|rewrite B in C; discriminate C].
    - apply andb_prop in C as [C1 C2]. apply negb_true_iff in C1. apply not_less in C1. rewrite inj_zero in C1.
      apply Rmult_le_pos; auto. clear - C2 D. induction is as [|i is IH]; simpl in *; [lra|].
      apply andb_prop in C2 as [A B]. apply Rmult_le_pos; auto. apply D in A.
      destruct (sgn_cases (ev (fst (nth i ls ([], zero_only))))) as [[_ X]|[[X _]|[X _]]]; try lra. rewrite X in A. simpl in A. intuition discriminate. }
  apply existsb_exists in S as ([c is] & I & Y). cbv beta iota in Y. apply andb_prop in Y as [P1 P2].
  apply inj_less in P1. rewrite inj_zero in P1.
  assert (Y : 0 < value (c, is)).
  { rewrite V. apply Rmult_lt_0_compat; auto. clear - P2 D. induction is as [|i is IH]; simpl in *; [lra|].
    apply andb_prop in P2 as [A B]. apply Rmult_lt_0_compat; auto. apply D in A.
    destruct (sgn_cases (ev (fst (nth i ls ([], zero_only))))) as [[_ X]|[[_ X]|[X _]]]; try lra; rewrite X in A; simpl in A; intuition discriminate. }
  change (fold_right Rplus 0 (map value l) = 0) in Z. clear C V D. clearbody value.
  assert (A : forall m, (forall x, In x m -> 0 <= value x) -> 0 <= fold_right Rplus 0 (map value m)).
  { induction m as [|x m IH]; intros M; simpl; [lra|]. specialize (IH (fun y J => M y (or_intror J))).
    specialize (M x (or_introl eq_refl)). lra. }
  revert E I Z. induction l as [|x l IH]; intros E I Z; [destruct I|]. simpl in Z.
  specialize (A l (fun y J => E y (or_intror J))) as A'. pose proof (E x (or_introl eq_refl)) as E'. destruct I as [->|I]; [lra|].
  apply IH; auto; [intros y J; apply E; right; auto|]. lra.
Qed.

Section Clauses.
Variable clauses : list clause.
Hypothesis clauses_true : Forall clause_true clauses.

Lemma units_true : forall F, holds F -> Forall true_of (units clauses F).
Proof.
  intros F H. unfold units. rewrite Forall_forall in *. intros f I. apply in_flat_map in I as (k & K & I).
  specialize (clauses_true k K). unfold clause_true in clauses_true. rewrite Forall_forall in clauses_true.
  set (open := fun '(p, s) => negb (within (may_be F p) s)) in I.
  assert (O : forall l, In l (fst k) -> open l = false -> true_of l).
  { intros [p s] _ N. unfold open in N. apply negb_false_iff in N. apply (within_In _ _ _ N). apply may_be_In. auto. }
  destruct (filter open (fst k)) as [|[p s] l] eqn:E.
  - exfalso. apply clauses_true. intros l J. apply O; auto. destruct (open l) eqn:Q; auto.
    assert (X : In l (filter open (fst k))) by (apply filter_In; auto). rewrite E in X. destruct X.
  - destruct ((length l =? 0)%nat && negb (within (may_be F p) (outside any s))) eqn:Q; [|destruct I].
    apply andb_prop in Q as [Q _]. destruct l; [|discriminate]. destruct I as [<-|[]]. unfold true_of. cbn [fst snd].
    apply outside_In. split; [apply sgn_any|]. intros T. apply clauses_true. intros l J. destruct (open l) eqn:P; [|auto].
    assert (X : In l (filter open (fst k))) by (apply filter_In; auto). rewrite E in X. destruct X as [<-|[]]. auto.
Qed.

Lemma solved_true : forall g v h, In (v, h) (solved g) -> ev g = 0 -> env v = ev h.
Proof.
  intros g v h I Z. unfold solved in I.
  assert (A : forall l : list (word * polynomial), In (v, h) (firstn 1 l) -> In (v, h) l)
    by (intros [|y l]; simpl; [tauto|]; intros [J|[]]; auto).
  apply A, in_flat_map in I as ([c a] & _ & J). destruct (_ && _); [|destruct J]. destruct J as [[= <- <-]|[]].
  rewrite minus_ev, term_ev, variable_ev, Z. ring.
Qed.

Lemma learn_true : forall steps todo F, holds F -> Forall true_of todo ->
  exists G, learn clauses steps todo F = Some G /\ holds G.
Proof.
  induction steps as [|steps IH]; intros todo F H T; [exists F; auto|]. cbn [learn]. destruct todo as [|[p s] todo]; [exists F; auto|].
  inversion T as [|? ? T1 T2]; subst. unfold true_of in T1. cbn [fst snd] in T1.
  set (now := filter (is_in s) (may_be F p)).
  assert (N : In (sgn (ev p)) now) by (apply filter_In; split; [apply may_be_In; auto|apply is_in_In; auto]).
  destruct (length now =? 0)%nat eqn:E; [apply Nat.eqb_eq, length_zero_iff_nil in E; rewrite E in N; destruct N|].
  destruct (within (may_be F p) s); [apply IH; auto|]. cbv zeta.
  set (g := reduce F p). set (found := if within now zero_only then solved g else []).
  assert (R : ev g = ev p) by (apply reduce_ev; auto).
  assert (ZERO : within now zero_only = true -> ev p = 0).
  { intros Z. apply (within_In _ _ _ Z) in N. destruct (sgn_cases (ev p)) as [[_ B]|[[A _]|[_ B]]]; auto; rewrite B in N; destruct N as [N|[]]; discriminate. }
  set (lower := if within now zero_only then [(monic (rest_in steps F g), zero_only)] else []).
  assert (LOWER : Forall true_of lower).
  { unfold lower. destruct (within now zero_only) eqn:Z; constructor; [|constructor]. unfold true_of. cbn [fst snd].
    left. symmetry. apply sgn_zero, monic_zero. rewrite rest_in_ev, R; auto. }
  assert (W : Forall true_of ((monic g, turned g now) :: lower ++ fst F)).
  { constructor; [|apply Forall_app; split; [auto|apply H]]. unfold true_of. cbn [fst snd]. apply turned_back. rewrite R. auto. }
  assert (Q : Forall (fun e => env (fst e) = ev (snd e)) (found ++ snd F)).
  { apply Forall_app. split; [|apply H]. rewrite Forall_forall. intros [v h] I. unfold found in I.
    destruct (within now zero_only) eqn:Z; [|destruct I]. apply (solved_true g); auto. rewrite R. auto. }
  set (G := (if (length found =? 0)%nat then (monic g, turned g now) :: lower ++ fst F else [], found ++ snd F)).
  assert (HG : holds G) by (split; [simpl; destruct (length found =? 0)%nat; auto|exact Q]).
  apply IH; auto. apply Forall_app. split; [destruct (length found =? 0)%nat; auto|]. apply Forall_app. split; auto.
  apply units_true. auto.
Qed.

Variable steps : nat.

Definition side (p : polynomial) (s : signs) : bool := is_in s (sgn (ev p)).

Lemma part_true : forall F p s, holds F -> exists G, part clauses steps F p s (side p s) = Some G /\ holds G.
Proof.
  intros F p s H. apply learn_true; auto. constructor; auto. unfold true_of. cbn [fst snd]. destruct (side p s) eqn:E.
  - apply is_in_In. auto.
  - apply outside_In. split; [apply sgn_any|]. intros I. apply is_in_In in I. unfold side in E. congruence.
Qed.

Lemma parts_true : forall F p s k, parts clauses steps F p s k = true -> holds F ->
  exists G, holds G /\ k G (side p s) = true.
Proof.
  intros F p s k P H. destruct (part_true F p s H) as (G & E & HG). exists G. split; auto.
  unfold parts in P. rewrite forallb_forall in P. specialize (P (side p s)). rewrite E in P. apply P.
  destruct (side p s); simpl; auto.
Qed.

(** ** Quotients *)

Definition means (a : quotient) (r : R) : Prop := evs (snd a) <> 0 /\ ev (fst a) = r * evs (snd a).

Lemma evs_app : forall l m, evs (l ++ m) = evs l * evs m.
Proof. induction l as [|p l IH]; intros m; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma drop_evs : forall p m, existsb (same_p p) m = true -> evs m = ev p * evs (drop same_p p m).
Proof.
  intros p. induction m as [|q m IH]; intros H; simpl in *; [discriminate|]. destruct (same_p p q) eqn:E.
  - apply same_p_ev in E. rewrite E. auto.
  - simpl. rewrite IH by auto. ring.
Qed.

Lemma apart_evs : forall l m, exists c,
  evs l = evs (fst (apart l m)) * c /\ evs m = evs (snd (apart l m)) * c.
Proof.
  induction l as [|p l IH]; intros m; simpl.
  - exists 1. split; simpl; ring.
  - destruct (existsb (same_p p) m) eqn:E.
    + apply drop_evs in E. destruct (IH (drop same_p p m)) as (c & A & B). exists (ev p * c). rewrite A, E, B. split; ring.
    + destruct (IH m) as (c & A & B). destruct (apart l m) as [l' m']. simpl in *. exists c. rewrite A. split; [ring|auto].
Qed.

Lemma add_means : forall a b r s, means a r -> means b s -> means (add_q a b) (r + s).
Proof.
  intros [n d] [m e] r s [A1 A2] [B1 B2]. unfold add_q. cbn [fst snd] in *. destruct (apart_evs d e) as (c & D & E).
  destruct (apart d e) as [mine theirs]. cbn [fst snd] in *. unfold means. cbn [fst snd].
  rewrite evs_app, plus_ev, !times_ev, !product_ev, A2, B2. split.
  - apply Rmult_integral_contrapositive_currified; auto. intros Z. apply A1. rewrite D, Z. ring.
  - rewrite D, E. ring.
Qed.

Definition wt (w : weight) : R := inj (fst w) * evs (fst (snd w)) / evs (snd (snd w)).

Lemma scaled_means : forall w a r, evs (snd (snd w)) <> 0 -> means a r -> means (scaled w a) (wt w * r).
Proof.
  intros [c [up down]] [n d] r W [A B]. unfold scaled, wt. cbn [fst snd] in *. destruct (apart_evs up d) as (k & U & D).
  destruct (apart up d) as [u l]. cbn [fst snd] in *. unfold means. cbn [fst snd].
  rewrite evs_app, term_ev, times_ev, product_ev, B. split.
  - apply Rmult_integral_contrapositive_currified; auto. intros Z. apply A. rewrite D, Z. ring.
  - rewrite U, D. simpl. field. auto.
Qed.

Lemma whole_means : forall p, means (p, []) (ev p).
Proof. intros p. split; simpl; [lra|ring]. Qed.

Lemma same_q_true : forall F a b r s, same_q steps F a b = true -> holds F -> means a r -> means b s -> r = s.
Proof.
  intros F a b r s Q H A B. unfold same_q in Q.
  assert (M : means (scaled (sub zero one, ([], [])) b) (- s)).
  { replace (- s) with (wt (sub zero one, ([], [])) * s).
    - apply scaled_means; auto. simpl. lra.
    - unfold wt. simpl. rewrite inj_sub, inj_zero, inj_one. field. }
  destruct (add_means _ _ _ _ A M) as [D E]. apply no_term_ev in Q. rewrite rest_in_ev, reduce_ev in Q by auto.
  rewrite Q in E. symmetry in E. apply Rmult_integral in E as [E|E]; [lra|contradiction].
Qed.

Lemma no_zero_true : forall F l, no_zero F l = true -> holds F -> evs l <> 0.
Proof.
  intros F l N H. induction l as [|p l IH]; simpl in *; [lra|]. apply andb_prop in N as [N1 N2].
  apply Rmult_integral_contrapositive_currified; auto. intros Z. apply negb_true_iff in N1.
  pose proof (may_be_In F p H) as I. rewrite sgn_zero in I by auto. apply is_in_In in I. congruence.
Qed.

(** ** Weights *)

Definition total_wt (l : list weight) : R := fold_right Rplus 0 (map wt l).

Lemma signs_of_product : forall F l, holds F -> In (sgn (evs l)) (fold_right signs_times above (map (may_be F) l)).
Proof.
  intros F l H. induction l as [|p l IH].
  - simpl. rewrite sgn_pos by lra. auto.
  - cbn [map fold_right]. change (evs (p :: l)) with (ev p * evs l). rewrite sgn_mult. apply signs_times_In; auto.
    apply may_be_In. auto.
Qed.

Lemma is_law_true : forall F l, is_law steps F l = true -> holds F ->
  Forall (fun w => evs (snd (snd w)) <> 0 /\ 0 <= wt w) l /\ total_wt l = 1.
Proof.
  intros F l L H. unfold is_law in L. apply andb_prop in L as [P S].
  assert (A : Forall (fun w => evs (snd (snd w)) <> 0 /\ 0 <= wt w) l).
  { rewrite forallb_forall in P. rewrite Forall_forall. intros [c [up down]] I. specialize (P _ I). cbn [fst snd].
    apply andb_prop in P as [N W]. apply no_zero_true in N; auto. split; auto.
    pose proof (signs_of_product F (up ++ down) H) as Q. rewrite evs_app in Q. unfold turned in W. cbn [lead] in W.
    unfold wt. cbn [fst snd].
    replace (inj c * evs up / evs down) with ((inj c * (evs up * evs down)) * (/ evs down * / evs down)) by (field; auto).
    apply Rmult_le_pos; [|rewrite <- Rinv_mult; left; apply Rinv_0_lt_compat; nra].
    set (x := evs up * evs down) in *. destruct (less c zero) eqn:C.
    - apply inj_less in C. rewrite inj_zero in C. assert (x <= 0); [|nra].
      assert (J : In (2 - sgn x)%nat not_below) by (apply (within_In _ _ _ W); apply in_map with (f := fun x => (2 - x)%nat); auto).
      destruct (sgn_cases x) as [[X _]|[[X _]|[X E]]]; try lra. rewrite E in J. simpl in J. intuition discriminate.
    - apply not_less in C. rewrite inj_zero in C. assert (0 <= x); [|nra].
      pose proof (within_In _ _ _ W Q) as J.
      destruct (sgn_cases x) as [[X E]|[[X _]|[X _]]]; try lra. rewrite E in J. simpl in J. intuition discriminate. }
  split; auto.
  assert (M : means (fold_right add_q ([], []) (map (fun w => scaled w (one_p, [])) l)) (total_wt l)).
  { unfold total_wt. clear - A. induction A as [|w l [D _] _ IH]; simpl.
    - split; simpl; lra.
    - apply add_means; auto. replace (wt w) with (wt w * 1) by ring. apply scaled_means; auto.
      rewrite <- one_ev. apply whole_means. }
  apply (same_q_true F _ _ _ _ S H M). rewrite <- one_ev. apply whole_means.
Qed.

(** ** Values *)

Fixpoint means_v (v : value) (r : R) : Prop :=
  match v with Leaf a => means a r | Split p s yes no => if side p s then means_v yes r else means_v no r end.

Scheme value_ind := Induction for value Sort Prop.

Lemma serves_true : forall v w F r, serves clauses steps v w F = true -> holds F -> means_v w r -> means_v v r.
Proof.
  unfold serves.
  induction v as [a|p s yes IHy no IHn]; intros w; induction w as [b|q u yes' IHy' no' IHn']; intros F r S H M; cbn [meet] in S.
  - apply andb_prop in S as [Z Q]. apply no_zero_true in Z; auto. simpl in *.
    assert (A : means a (ev (fst a) / evs (snd a))) by (split; auto; field; auto).
    rewrite <- (same_q_true F a b _ _ Q H A M). auto.
  - apply parts_true in S as (G & HG & S); auto. simpl in M. destruct (side q u); eauto.
  - apply parts_true in S as (G & HG & S); auto. simpl. destruct (side p s); eauto.
  - apply parts_true in S as (G & HG & S); auto. cbn [means_v]. destruct (side p s); eauto.
Qed.

Lemma means_v_unique : forall v r s, means_v v r -> means_v v s -> r = s.
Proof.
  induction v as [a|p u yes IHy no IHn]; simpl; intros r s A B; [|destruct (side p u); auto].
  destruct A as [D A], B as [_ B]. apply (Rmult_eq_reg_r (evs (snd a))); auto. congruence.
Qed.

Lemma split_true : forall F p s k r, holds F -> (forall G, holds G -> means_v (k G (side p s)) r) ->
  means_v (split clauses steps F p s k) r.
Proof.
  intros F p s k r H M. destruct (part_true F p s H) as (G & E & HG). unfold split.
  destruct (side p s) eqn:D; rewrite E.
  - destruct (part clauses steps F p s false) as [G'|]; cbn [on]; [|auto].
    destruct (serves clauses steps (k G true) (k G' false) G') eqn:S1; auto.
    destruct (serves clauses steps (k G' false) (k G true) G) eqn:S2; [apply (serves_true _ _ _ _ S2); auto|].
    simpl. rewrite D. auto.
  - destruct (part clauses steps F p s true) as [G'|]; cbn [on].
    + destruct (serves clauses steps (k G' true) (k G false) G) eqn:S1; [apply (serves_true _ _ _ _ S1); auto|].
      destruct (serves clauses steps (k G false) (k G' true) G') eqn:S2; auto. simpl. rewrite D. auto.
    + destruct (serves clauses steps (Leaf ([], [])) (k G false) G) eqn:S1; [apply (serves_true _ _ _ _ S1); auto|]. auto.
Qed.

Lemma add_v_true : forall v w F r q, holds F -> means_v v r -> means_v w q -> means_v (add_v clauses steps v w F) (r + q).
Proof.
  unfold add_v.
  induction v as [a|p s yes IHy no IHn]; intros w; induction w as [b|p' u yes' IHy' no' IHn']; intros F r q H M M'; cbn [meet].
  - apply add_means; auto.
  - apply split_true; auto. intros G HG. simpl in M'. destruct (side p' u); eauto.
  - apply split_true; auto. intros G HG. cbn [means_v] in M. destruct (side p s); eauto.
  - apply split_true; auto. intros G HG. cbn [means_v] in M. destruct (side p s); eauto.
Qed.

Lemma scaled_v_true : forall w v r, evs (snd (snd w)) <> 0 -> means_v v r -> means_v (scaled_v w v) (wt w * r).
Proof.
  intros w. induction v as [a|p s yes IHy no IHn]; intros r W M; simpl in *; [apply scaled_means; auto|].
  destruct (side p s); auto.
Qed.

(** ** The run of a verifier, at a point *)

Section Run.
Variable P : run -> Prop.
Hypothesis cut : forall p s yes no, P yes -> P no -> P (Cut p s yes no).
Hypothesis drawn : forall b l, Forall (fun x => P (snd (snd x))) l -> P (Draw b l).
Hypothesis stop : forall c, P (Stop c).
Hypothesis never : P Never.
Fixpoint run_all (k : run) : P k :=
  match k with
  | Cut p s yes no => cut p s yes no (run_all yes) (run_all no)
  | Draw b l => drawn b l ((fix all l : Forall (fun x => P (snd (snd x))) l :=
      match l with
      | [] => Forall_nil _
      | x :: l => Forall_cons x (run_all (snd (snd x))) (all l)
      end) l)
  | Stop c => stop c
  | Never => never
  end.
End Run.

Variables (V : nat) (listed replacement : bool).

(** The probability of the last token of [c ++ [x]] after [c], of the target and of the proposal. *)
Definition p_row (w : word) : R := env (0%nat :: w).
Definition q_row (w : word) : R := env (1%nat :: w).
Definition sum_over (f : nat -> R) (l : list nat) : R := fold_right Rplus 0 (map f l).
Definition rows_ok (row : word -> R) : Prop :=
  forall c, (forall x, (x < V)%nat -> 0 <= row (c ++ [x])) /\ sum_over (fun x => row (c ++ [x])) (seq 0 V) = 1.
Hypothesis p_ok : rows_ok p_row.
Hypothesis q_ok : rows_ok q_row.

Lemma sum_over_app : forall f l m, sum_over f (l ++ m) = sum_over f l + sum_over f m.
Proof. intros f l m. unfold sum_over. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma entry_ev : forall letter c x, (x < V)%nat -> sum_over (fun x => env (letter :: c ++ [x])) (seq 0 V) = 1 ->
  ev (entry V letter c x) = env (letter :: c ++ [x]).
Proof.
  intros letter c x L M. unfold entry. destruct (S x =? V)%nat eqn:E.
  - apply Nat.eqb_eq in E. rewrite <- E in M. rewrite seq_S, sum_over_app in M. rewrite minus_ev, one_ev, total_ev, map_map.
    rewrite (map_ext _ (fun y => env (letter :: c ++ [y]))) by (intros; apply variable_ev).
    fold (sum_over (fun y => env (letter :: c ++ [y])) (seq 0 x)). unfold sum_over in M at 2. simpl in M. lra.
  - destruct (x <? V)%nat eqn:W; [apply variable_ev|]. apply Nat.ltb_ge in W. lia.
Qed.

Lemma rows_true : forall letter n, rows_ok (fun w => env (letter :: w)) -> Forall true_of (rows V letter n).
Proof.
  intros letter n H. rewrite Forall_forall. intros f I. unfold rows in I. apply in_flat_map in I as (c & _ & I). apply in_map_iff in I as (x & <- & I). apply in_seq in I. destruct (H c) as [A B].
  unfold true_of. cbn [fst snd]. rewrite entry_ev by (auto; lia).
  destruct (sgn_cases (env (letter :: c ++ [x]))) as [[X Y]|[[X Y]|[X Y]]]; rewrite Y; simpl; auto.
  specialize (A x ltac:(lia)). lra.
Qed.

(** What the drafter has drawn below [c] already, and what it may draw. *)
Definition gone (D : list word) (c : word) : list nat :=
  if replacement then [] else filter (fun x => in_words (c ++ [x]) D) (seq 0 V).
Definition drafted (arities : list nat) (D : list word) (c : word) (l : list (nat * (weight * run))) : Prop :=
  (length (filter (fun d => existsb (fun x => same_word d (c ++ [x])) (seq 0 V)) D) <
    length (filter (same_word c) D) * nth (length c) arities 0)%nat /\
  let left := 1 - sum_over (fun x => q_row (c ++ [x])) (gone D c) in
  left <> 0 /\ Forall (fun '(x, (w, _)) => (x < V)%nat /\ ~ In x (gone D c) /\ wt w = q_row (c ++ [x]) / left) l.

(** The run is a sampler: draws are distributions, the drafter's are those of the proposal, the text goes on after a
    drafted node, and what never happens has the weight zero, or [z]. *)
Fixpoint samples (k : run) (arities : list nat) (D : list word) (z : Prop) : Prop :=
  match k with
  | Cut p s yes no => if side p s then samples yes arities D z else samples no arities D z
  | Draw by_ l =>
      Forall (fun '(_, (w, _)) => evs (snd (snd w)) <> 0 /\ 0 <= wt w) l /\
      total_wt (map (fun b => fst (snd b)) l) = 1 /\
      let each arities D := fold_right and True (map (fun '(x, (w, k)) => samples k arities (D x) (wt w = 0)) l) in
      match by_ with
      | Coin => each arities (fun _ => D)
      | Drafter c => (listed = false -> drafted arities D c l) /\ each arities (fun x => (c ++ [x]) :: D)
      | Next c => (listed = false -> In c D) /\ each [] (fun x => [c ++ [x]])
      end
  | Stop c => listed = false -> In c D
  | Never => z
  end.

(** The probability that the target goes on with [u] after [c]; that a text that is [c], and then the target's, begins
    with [u]; and that the text of a run does. *)
Fixpoint text (c u : word) : R := match u with [] => 1 | x :: u => p_row (c ++ [x]) * text (c ++ [x]) u end.
Definition starts (c u : word) : R :=
  if same_word (firstn (length u) c) (firstn (length c) u) then text c (skipn (length c) u) else 0.
Fixpoint expect (u : word) (k : run) : R :=
  match k with
  | Cut p s yes no => if side p s then expect u yes else expect u no
  | Draw _ l => fold_right Rplus 0 (map (fun '(_, (w, k)) => wt w * expect u k) l)
  | Stop c => starts c u
  | Never => 0
  end.

Lemma drafts_true : forall F arities D c l, drafts steps V replacement F arities D c l = true -> holds F ->
  Forall (fun '(_, (w, _)) => evs (snd (snd w)) <> 0 /\ 0 <= wt w) l -> drafted arities D c l.
Proof.
  intros F arities D c l H HF L. unfold drafts in H. apply andb_prop in H as [H W]. apply andb_prop in H as [A M].
  apply Nat.ltb_lt in A. split; auto. fold (gone D c) in M, W.
  assert (G : forall x, In x (gone D c) -> (x < V)%nat).
  { intros x I. unfold gone in I. destruct replacement; [destruct I|]. apply filter_In in I as [I _]. apply in_seq in I. lia. }
  assert (E : ev (minus one_p (total (map (entry V 1 c) (gone D c)))) = 1 - sum_over (fun x => q_row (c ++ [x])) (gone D c)).
  { rewrite minus_ev, one_ev, total_ev, map_map. f_equal. unfold sum_over. f_equal. apply map_ext_in. intros x I.
    apply entry_ev; auto. apply (q_ok c). }
  set (mass := minus one_p (total (map (entry V 1 c) (gone D c)))) in *. cbv zeta. rewrite <- E.
  apply no_zero_true in M; auto. simpl in M. split; [intros Z; apply M; rewrite Z; ring|].
  rewrite forallb_forall in W. rewrite Forall_forall in *. intros [x [w k]] I. specialize (W _ I). specialize (L _ I). simpl in W, L.
  destruct L as [LW _]. apply andb_prop in W as [W1 W2]. apply andb_prop in W1 as [LV W1]. apply Nat.ltb_lt in LV.
  split; auto. split.
  - intros J. apply is_in_In in J. rewrite J in W1. discriminate.
  - assert (B : wt w * ev mass = q_row (c ++ [x])).
    { unfold q_row. rewrite <- entry_ev by (auto; apply (q_ok c)). apply (same_q_true F _ _ _ _ W2 HF); [|apply whole_means].
      apply scaled_means; auto. apply whole_means. }
    rewrite <- B. field. intros Z. apply M. rewrite Z. ring.
Qed.

Lemma samples_true : forall k arities D up F (z : Prop), sampler clauses steps V listed replacement k arities D up F = true ->
  holds F -> (Exists (fun p => ev p = 0) up -> z) -> samples k arities D z.
Proof.
  induction k as [p s yes no IHy IHn|by_ l IH|c|] using run_all; intros arities D up F z H HF Z; cbn [sampler samples] in *.
  - apply parts_true in H as (G & HG & H); auto. destruct (side p s); eauto.
  - apply andb_prop in H as [L T]. destruct (is_law_true F _ L HF) as [LA LT].
    assert (A : Forall (fun '(_, (w, _)) => evs (snd (snd w)) <> 0 /\ 0 <= wt w) l).
    { rewrite Forall_forall in *. intros [x [w k]] I. apply LA. apply in_map_iff. exists (x, (w, k)). auto. }
    split; auto. split; auto.
    assert (EACH : forall ar (C : nat -> list word),
      forallb (fun '(x, ((_, (up, _)), k)) => sampler clauses steps V listed replacement k ar (C x) up F) l = true ->
      fold_right and True (map (fun '(x, (w, k)) => samples k ar (C x) (wt w = 0)) l)).
    { intros ar C E. clear - IH E HF A. induction l as [|[x [w k]] l IHl]; simpl; auto. inversion IH; subst. inversion A; subst.
      cbn [forallb] in E. apply andb_prop in E as [E1 E2]. split; [|auto]. cbn [fst snd] in *. destruct w as [c [u d]].
      eapply H1; eauto. intros X. unfold wt. cbn [fst snd].
      assert (Y : evs u = 0); [|rewrite Y; unfold Rdiv; ring].
      clear - X. induction X; simpl; [rewrite H; ring|rewrite IHX; ring]. }
    destruct by_ as [|c|c]; auto; apply andb_prop in T as [T1 T2]; split; auto; intros N; rewrite N in T1; simpl in T1.
    + apply (drafts_true F); auto.
    + apply in_words_In. auto.
  - intros N. rewrite N in H. apply in_words_In. auto.
  - apply Z. apply existsb_exists in H as (p & I & W). apply Exists_exists. exists p. split; auto.
    pose proof (within_In _ _ _ W (may_be_In F p HF)) as J. simpl in J. destruct J as [J|[]].
    destruct (sgn_cases (ev p)) as [[_ B]|[[A _]|[_ B]]]; auto; rewrite B in J; discriminate J.
Qed.

Lemma follows_ev : forall u c, Forall (fun x => (x < V)%nat) u -> ev (follows V c u) = text c u.
Proof.
  induction u as [|x u IH]; intros c H; [apply one_ev|]. inversion H; subst. cbn [follows text].
  rewrite times_ev, IH by auto. f_equal. apply entry_ev; auto. apply (p_ok c).
Qed.

Lemma begins_ev : forall c u, Forall (fun x => (x < V)%nat) u -> ev (begins V c u) = starts c u.
Proof.
  intros c u H. unfold begins, starts. destruct (same_word _ _); auto. apply follows_ev. rewrite Forall_forall in *.
  intros x I. apply H. rewrite <- (firstn_skipn (length c) u). apply in_or_app. auto.
Qed.

Lemma mean_true : forall u, Forall (fun x => (x < V)%nat) u -> forall k arities D (z : Prop) F, samples k arities D z -> holds F ->
  means_v (mean clauses steps V u k F) (expect u k).
Proof.
  intros u U. induction k as [p s yes no IHy IHn|by_ l IH|c|] using run_all; intros arities D z F S HF; cbn [mean expect samples] in *.
  - apply split_true; auto. intros G HG. destruct (side p s); eauto.
  - destruct S as (A & _ & T).
    assert (EACH : exists ar (C : nat -> list word), fold_right and True (map (fun '(x, (w, k)) => samples k ar (C x) (wt w = 0)) l)).
    { destruct by_ as [|c|c]; [exists arities, (fun _ => D); exact T| |]; destruct T as [_ T]; eexists; eexists; exact T. }
    destruct EACH as (ar & C & E). clear T. induction l as [|[x [w k]] l IHl]; [split; simpl; lra|].
    inversion IH; subst. inversion A as [|? ? A1 A2]; subst. cbn [map fold_right snd fst] in *. destruct E as [E1 E2].
    rewrite Rplus_comm. apply add_v_true; auto. apply scaled_v_true; [apply A1|]. eapply H1; eauto.
  - simpl. rewrite <- begins_ev by auto. apply whole_means.
  - split; simpl; lra.
Qed.
End Clauses.
End Point.

(** ** The theorem

    Whatever the rows of target and proposal, if the cells that were taken on trust are empty at them: the run is a
    sampler, whose drafts are the proposal's (unless they are as listed), and which goes on after a drafted node; and
    every word of the length [n] has the probability that the law gives it, which is the target's if none is declared. *)
Definition rows_at (P Q : word -> R) (v : word) : R := match v with 0%nat :: w => P w | _ :: w => Q w | [] => 0 end.

Lemma words_length : forall V n u, length u = n -> Forall (fun x => (x < V)%nat) u -> In u (words V n).
Proof.
  intros V.
  assert (G : forall n a u, length u = n -> Forall (fun x => (x < V)%nat) u ->
    In u (fold_right (fun _ => flat_map (fun u => map (fun x => u ++ [x]) (seq 0 V))) [[]] (seq a n))); [|intros; apply G; auto].
  induction n as [|n IH]; intros a u L T; [destruct u; [left; auto|discriminate]|].
  simpl. apply in_flat_map. destruct (@exists_last _ u) as (v & x & ->); [intros ->; discriminate|].
  rewrite app_length in L. simpl in L. apply Forall_app in T as [T1 T2]. inversion T2; subst. exists v. split; [apply IH; auto; lia|].
  apply in_map_iff. exists x. split; auto. apply in_seq. lia.
Qed.

Theorem check_sound : forall V n listed replacement arities l steps k law,
  check (Proof V n listed replacement arities l steps k law) = true ->
  forall P Q : word -> R, rows_ok V P -> rows_ok V Q ->
  let env := rows_at P Q in
  (forall c, In c l -> snd c = None -> clause_true env c) ->
  samples env V listed replacement k arities [[]] False /\ samples env V true true law [] [[]] False /\
  (law = Stop [] -> forall u, expect env u law = text env [] u) /\
  forall u, length u = n -> Forall (fun x => (x < V)%nat) u -> expect env u k = expect env u law.
Proof.
  intros V n listed replacement arities l steps k law H P Q HP HQ env T. unfold check in H. apply andb_prop in H as [R H].
  assert (C : Forall (clause_true env) l).
  { rewrite forallb_forall in R. rewrite Forall_forall. intros c I. destruct (snd c) as [w|] eqn:E; [|apply T; auto].
    apply refuted_true; auto. congruence. }
  destruct (learn_true env l C steps (rows V 0 n ++ rows V 1 n) ([], [])) as (F & E & HF).
  - split; constructor.
  - apply Forall_app. split; apply rows_true; auto.
  - rewrite E in H. cbn [on] in H. apply andb_prop in H as [H M]. apply andb_prop in H as [S L].
    assert (SA : forall li re k ar, sampler l steps V li re k ar [[]] [] F = true -> samples env V li re k ar [[]] False).
    { intros. eapply (samples_true env l C); eauto. intros X. inversion X. }
    split; [auto|]. split; [auto|]. split.
    + intros -> u. cbn. unfold starts. rewrite firstn_nil. reflexivity.
    + intros u W U. rewrite forallb_forall in M. specialize (M u (words_length V n u W U)).
      apply (means_v_unique env (mean l steps V u law F)).
      * apply (serves_true env l C steps _ _ F _ M HF). eapply (mean_true env l C); eauto.
      * eapply (mean_true env l C); eauto.
Qed.
End Sound.

(** The theorem is of something: canonical rationals are such numbers. *)
Require Import QArith Qcanon Qreals.
Module Rationals <: EMBEDDED.
  Definition t := Qc.
  Definition zero := 0%Qc.
  Definition one := 1%Qc.
  Definition add := Qcplus.
  Definition sub := Qcminus.
  Definition mul := Qcmult.
  Definition div := Qcdiv.
  Definition equal (x y : Qc) := Qeq_bool x y.
  Definition less (x y : Qc) := negb (Qle_bool y x).
  Definition inj (x : t) : R := Q2R (this x).
  Lemma red : forall x, Q2R (Qred x) = Q2R x.
  Proof. intros x. apply Qeq_eqR, Qred_correct. Qed.
  Lemma inj_zero : inj zero = 0%R.
  Proof. unfold inj, Q2R. simpl. lra. Qed.
  Lemma inj_one : inj one = 1%R.
  Proof. unfold inj, Q2R. simpl. lra. Qed.
  Lemma inj_add : forall x y, inj (add x y) = (inj x + inj y)%R.
  Proof. intros x y. unfold inj, add, Qcplus, Q2Qc. cbn [this]. rewrite red. apply Q2R_plus. Qed.
  Lemma inj_sub : forall x y, inj (sub x y) = (inj x - inj y)%R.
  Proof. intros x y. unfold inj, sub, Qcminus, Qcplus, Qcopp, Q2Qc. cbn [this]. rewrite red, Q2R_plus, red, Q2R_opp. ring. Qed.
  Lemma inj_mul : forall x y, inj (mul x y) = (inj x * inj y)%R.
  Proof. intros x y. unfold inj, mul, Qcmult, Q2Qc. cbn [this]. rewrite red. apply Q2R_mult. Qed.
  Lemma inj_div : forall x y, inj y <> 0%R -> inj (div x y) = (inj x / inj y)%R.
  Proof.
    intros x y H. unfold inj, div, Qcdiv, Qcmult, Qcinv, Q2Qc in *. cbn [this] in *. rewrite red, Q2R_mult, red, Q2R_inv; auto.
    intros E. apply H. rewrite (Qeq_eqR _ _ E). unfold Q2R. simpl. lra.
  Qed.
  Lemma inj_equal : forall x y, equal x y = true <-> inj x = inj y.
  Proof. intros x y. unfold equal, inj. rewrite Qeq_bool_iff. split; [apply Qeq_eqR|apply eqR_Qeq]. Qed.
  Lemma inj_less : forall x y, less x y = true <-> (inj x < inj y)%R.
  Proof.
    intros x y. unfold less, inj. rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff. split.
    - intros H. apply Qlt_Rlt. apply Qnot_le_lt. auto.
    - intros H L. apply Qle_Rle in L. lra.
  Qed.
End Rationals.
Module Proved := Sound Rationals.
Print Assumptions Proved.check_sound.
