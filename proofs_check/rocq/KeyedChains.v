(** The sharper repair, for chains: with token verification it is enough that contexts which produced a token draw fresh.

    A discarded draft may have read a coin that is read again, but it is never looked at: the text has the law of a decoder
    that draws a token only once the one before is accepted, and that one reads no name twice.  A name is one random
    variable over all keys, known once it is read: of a race, all that the rows in question can tell (Races.v: one exists). *)

Require Import Reals Lra Lia List Arith Bool.
Require Import Programs Numbers Means Keys Lossless Traversal RecursiveRejection Chains BlockOptimal Texts.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Keyed.
Variable V : nat.
Variable name : Type.
Variable same : forall a b : name, {a = b} + {a <> b}.
Notation total := (total V).
Notation mean := (mean V).
Notation keyed := (keyed name).
Notation Result := (Result name _).
Notation Draw := (Draw name _).
Notation Toss := (Toss name _).
Notation fresh := (fresh name).
Notation once := (once name).

(** ** Names as random variables *)

Variable secret : Type.
Variable race : program secret.
Hypothesis race_proper : proper V race (fun _ => True).
Definition E (f : secret -> R) : R := mean race f.

(** What a name answers to the rows and coins that are asked of it: a token, a side. *)
Variable answer : secret -> row -> token.
Variable side : secret -> R -> bool.
Variable asked : row -> Prop.
Variable tossed : R -> Prop.
Hypothesis answers : forall r f, asked r -> is_row V r -> E (fun w => f (answer w r)) = total (fun x => r x * f x).
Hypothesis sides : forall a f, tossed a -> 0 <= a <= 1 -> E (fun w => f (side w a)) = a * f true + (1 - a) * f false.

Lemma E_ext : forall f g, (forall w, f w = g w) -> E f = E g.
Proof. intros. apply mean_ext. auto. Qed.
Lemma E_add : forall f g, E (fun w => f w + g w) = E f + E g.
Proof. intros. apply mean_add. Qed.
Lemma E_mul : forall a f, E (fun w => a * f w) = a * E f.
Proof. intros. apply mean_mul. Qed.
Lemma E_swap : forall f : secret -> secret -> R, E (fun v => E (fun w => f v w)) = E (fun w => E (fun v => f v w)).
Proof. intros. apply mean_swap. Qed.

Lemma E_const : forall v, E (fun _ => v) = v.
Proof. intros v. apply (mean_const V _ _ _ v race_proper). Qed.

Lemma E_total : forall r (g : token -> secret -> R), E (fun w => total (fun x => r x * g x w)) = total (fun x => r x * E
  (g x)).
Proof.
  intros r g. unfold RealPrograms.total. induction (vocabulary V) as [|x l IH]; simpl; [apply E_const|].
  rewrite (E_add (fun w => r x * g x w)), E_mul, IH. auto.
Qed.

(** What is known of names. *)
Definition memory := name -> option secret.
Definition set (h : memory) (n : name) (w : secret) : memory := fun m => if same n m then Some w else h m.

(** The mean of a quantity over all keys that agree with what is known. *)
Fixpoint value {A} (m : keyed A) (f : A -> R) (h : memory) : R :=
  match m with
  | Keys.Result _ _ result => f result
  | Keys.Draw _ _ None r rest => total (fun x => r x * value (rest x) f h)
  | Keys.Draw _ _ (Some n) r rest =>
      match h n with
      | Some w => value (rest (answer w r)) f h
      | None => E (fun w => value (rest (answer w r)) f (set h n w))
      end
  | Keys.Toss _ _ None a rest => a * value (rest true) f h + (1 - a) * value (rest false) f h
  | Keys.Toss _ _ (Some n) a rest =>
      match h n with
      | Some w => value (rest (side w a)) f h
      | None => E (fun w => value (rest (side w a)) f (set h n w))
      end
  end.

Fixpoint then_ {A B} (m : keyed A) (k : A -> keyed B) : keyed B :=
  match m with
  | Keys.Result _ _ result => k result
  | Keys.Draw _ _ n r rest => Draw n r (fun x => then_ (rest x) k)
  | Keys.Toss _ _ n a rest => Toss n a (fun b => then_ (rest b) k)
  end.

Lemma set_self : forall h n w, set h n w n = Some w.
Proof. intros. unfold set. destruct (same n n); congruence. Qed.

Lemma set_other : forall h n m w, n <> m -> set h n w m = h m.
Proof. intros. unfold set. destruct (same n m); congruence. Qed.

(** Of names that are not read nothing need be known. *)
Lemma value_unread : forall A (m : keyed A) f read h h', once read m -> (forall n, ~ In n read -> h n = h' n) -> value m
  f h = value m f h'.
Proof.
  intros A m f. induction m as [result|[n|] r rest IH|[n|] a rest IH]; intros read h h' O H; simpl in *; auto.
  - destruct O as [N O]. rewrite <- (H n N). assert (S : forall w k, ~ In k (n :: read) -> set h n w k = set h' n w k).
    { intros w k I. rewrite !set_other by (intros ->; apply I; simpl; auto). apply H. simpl in I. tauto. }
    destruct (h n) as [w|]; [apply (IH _ (n :: read)); auto; intros k I; apply H; simpl in I; tauto|].
    apply E_ext. intros w. apply (IH _ (n :: read)); auto.
  - apply total_ext. intros x. rewrite (IH x read h h'); auto.
  - destruct O as [N O]. rewrite <- (H n N). assert (S : forall w k, ~ In k (n :: read) -> set h n w k = set h' n w k).
    { intros w k I. rewrite !set_other by (intros ->; apply I; simpl; auto). apply H. simpl in I. tauto. }
    destruct (h n) as [w|]; [apply (IH _ (n :: read)); auto; intros k I; apply H; simpl in I; tauto|].
    apply E_ext. intros w. apply (IH _ (n :: read)); auto.
  - rewrite (IH true read h h'), (IH false read h h'); auto.
Qed.

Lemma value_same : forall A (m : keyed A) f h h', (forall n, h n = h' n) -> value m f h = value m f h'.
Proof.
  intros A m f. induction m as [result|[n|] r rest IH|[n|] a rest IH]; intros h h' H; simpl; auto.
  - rewrite <- (H n). destruct (h n); auto. apply E_ext. intros w. apply IH. intros k. unfold set.
    destruct (same n k); auto.
  - apply total_ext. intros x. rewrite (IH x h h'); auto.
  - rewrite <- (H n). destruct (h n); auto. apply E_ext. intros w. apply IH. intros k. unfold set.
    destruct (same n k); auto.
  - rewrite (IH true h h'), (IH false h h'); auto.
Qed.

(** The rows and coins of a program, whatever comes of them, and what it ends with. *)
Fixpoint asks {A} (m : keyed A) (post : A -> Prop) : Prop :=
  match m with
  | Keys.Result _ _ result => post result
  | Keys.Draw _ _ _ r rest => asked r /\ forall x, In x (vocabulary V) -> asks (rest x) post
  | Keys.Toss _ _ _ a rest => tossed a /\ forall b, asks (rest b) post
  end.

Lemma asks_then : forall A B (m : keyed A) (k : A -> keyed B) f g, asks m f -> (forall a, f a -> asks (k a) g) -> asks
  (then_ m k) g.
Proof.
  intros A B m k f g. induction m as [result|n r rest IH|n a rest IH]; simpl; intros P H; auto; destruct P as [L P]; auto.
Qed.

(** Where no name is read twice, keyed coins are fresh. *)
Lemma value_once : forall A (m : keyed A) f post told read h, once read m -> (forall n, ~ In n read -> h n = None) ->
  proper V (fresh m) post -> asks m told -> value m f h = mean (fresh m) f.
Proof.
  intros A m f post told. induction m as [result|[n|] r rest IH|[n|] a rest IH]; intros read h O H P Q0; simpl in *; auto;
    destruct Q0 as [K0 Q0].
  - destruct O as [N O], P as [L P]. rewrite (H n N).
    rewrite (E_ext _ (fun w => value (rest (answer w r)) f h)).
    + rewrite (answers r (fun x => value (rest x) f h) K0 L). apply total_ext_in. intros x I.
      destruct (Rle_lt_or_eq_dec _ _ (proj1 L x)) as [Q|Z]; [|rewrite <- Z; lra].
      rewrite (IH x (n :: read) h); auto. intros k J. apply H. simpl in J. tauto.
    + intros w. apply (value_unread _ _ _ (n :: read)); auto. intros k I. apply set_other. intros ->. apply I. simpl. auto.
  - destruct P as [L P]. apply total_ext_in. intros x I.
    destruct (Rle_lt_or_eq_dec _ _ (proj1 L x)) as [Q|Z]; [|rewrite <- Z; lra].
    rewrite (IH x read h); auto.
  - destruct O as [N O], P as [L [P1 P2]]. rewrite (H n N).
    rewrite (E_ext _ (fun w => value (rest (side w a)) f h)).
    + rewrite (sides a (fun b => value (rest b) f h) K0 L).
      assert (K : forall k, ~ In k (n :: read) -> h k = None) by (intros k J; apply H; simpl in J; tauto).
      destruct (Rle_lt_or_eq_dec 0 a (proj1 L)) as [Q|Z], (Rle_lt_or_eq_dec a 1 (proj2 L)) as [Q'|Z']; try lra.
      * rewrite (IH true (n :: read) h), (IH false (n :: read) h); auto.
      * rewrite (IH true (n :: read) h) by auto. rewrite Z'. lra.
      * rewrite (IH false (n :: read) h) by auto. rewrite <- Z. lra.
    + intros w. apply (value_unread _ _ _ (n :: read)); auto. intros k I. apply set_other. intros ->. apply I. simpl. auto.
  - destruct P as [L [P1 P2]].
    destruct (Rle_lt_or_eq_dec 0 a (proj1 L)) as [Q|Z], (Rle_lt_or_eq_dec a 1 (proj2 L)) as [Q'|Z']; try lra.
    + rewrite (IH true read h), (IH false read h); auto.
    + rewrite (IH true read h) by auto. rewrite Z'. lra.
    + rewrite (IH false read h) by auto. rewrite <- Z. lra.
Qed.

(** ** What is not looked at makes no difference *)

(** A name may be read before it is needed. *)
Lemma value_early : forall A (m : keyed A) f n h, h n = None -> value m f h = E (fun w => value m f (set h n w)).
Proof.
  assert (S : forall A (m : keyed A) f n k v w h, n <> k -> value m f (set (set h k v) n w) = value m f (set (set h n w)
    k v)).
  { intros A m f n k v w h D. apply value_same. intros j. unfold set. destruct (same n j), (same k j); congruence. }
  intros A m f n. induction m as [result|[k|] r rest IH|[k|] a rest IH]; intros h N; simpl.
  - symmetry. apply E_const.
  - destruct (same n k) as [<-|D].
    + rewrite N. apply E_ext. intros w. rewrite set_self. auto.
    + destruct (h k) as [v|] eqn:K.
      * rewrite IH by auto. apply E_ext. intros w. rewrite set_other, K by auto. auto.
      * transitivity (E (fun v => E (fun w => value (rest (answer v r)) f (set (set h k v) n w)))).
        { apply E_ext. intros v. apply IH. rewrite set_other by auto. auto. }
        rewrite E_swap. apply E_ext. intros w. rewrite set_other, K by auto. apply E_ext. intros v. apply S. auto.
  - rewrite E_total. apply total_ext. intros x. rewrite IH; auto.
  - destruct (same n k) as [<-|D].
    + rewrite N. apply E_ext. intros w. rewrite set_self. auto.
    + destruct (h k) as [v|] eqn:K.
      * rewrite IH by auto. apply E_ext. intros w. rewrite set_other, K by auto. auto.
      * transitivity (E (fun v => E (fun w => value (rest (side v a)) f (set (set h k v) n w)))).
        { apply E_ext. intros v. apply IH. rewrite set_other by auto. auto. }
        rewrite E_swap. apply E_ext. intros w. rewrite set_other, K by auto. apply E_ext. intros v. apply S. auto.
  - rewrite E_add, !E_mul, (IH true h N), (IH false h N). auto.
Qed.

Lemma value_after : forall A B (m : keyed A) (k k' : A -> keyed B) f, (forall a h, value (k a) f h = value (k' a) f h) ->
  forall h, value (then_ m k) f h = value (then_ m k') f h.
Proof.
  intros A B m k k' f H. induction m as [result|[n|] r rest IH|[n|] a rest IH]; intros h; simpl; auto.
  - destruct (h n); auto using E_ext.
  - apply total_ext. intros x. rewrite IH. auto.
  - destruct (h n); auto using E_ext.
  - rewrite !IH. auto.
Qed.

Lemma then_then : forall A B C (m : keyed A) (k : A -> keyed B) (l : B -> keyed C) f h,
  value (then_ (then_ m k) l) f h = value (then_ m (fun a => then_ (k a) l)) f h.
Proof.
  intros A B C m k l f. induction m as [result|[n|] r rest IH|[n|] a rest IH]; intros h; simpl; auto.
  - destruct (h n); auto using E_ext.
  - apply total_ext. intros x. rewrite IH. auto.
  - destruct (h n); auto using E_ext.
  - rewrite !IH. auto.
Qed.

(** A program that only draws from laws. *)
Fixpoint draws {A} (m : keyed A) : Prop :=
  match m with
  | Keys.Result _ _ _ => True
  | Keys.Draw _ _ _ r rest => is_row V r /\ forall x, draws (rest x)
  | Keys.Toss _ _ _ _ _ => False
  end.

Lemma discarded : forall A B (m : keyed A) (k : keyed B) f, draws m -> forall h, value (then_ m (fun _ => k)) f h = value
  k f h.
Proof.
  intros A B m k f. induction m as [result|[n|] r rest IH|n a rest IH]; intros D h; simpl in *; auto; [| |contradiction];
    destruct D as [L D].
  - destruct (h n) as [w|] eqn:N; auto. rewrite (value_early _ k f n h N). apply E_ext. intros w. auto.
  - rewrite (total_ext V _ (fun x => r x * value k f h)) by (intros; rewrite IH; auto).
    rewrite total_mul_right, (proj2 L). ring.
Qed.

(** A coin may be tossed before draws that it does not depend on. *)
Lemma tossed_first : forall A B (m : keyed A) n a (k : A -> bool -> keyed B) f, draws m -> forall h,
  value (then_ m (fun x => Toss n a (k x))) f h = value (Toss n a (fun b => then_ m (fun x => k x b))) f h.
Proof.
  intros A B m n a k f D.
  assert (None_ : forall h, value (then_ m (fun x => Toss None a (k x))) f h =
    a * value (then_ m (fun x => k x true)) f h + (1 - a) * value (then_ m (fun x => k x false)) f h).
  { revert D. induction m as [result|[i|] r rest IH|i b rest IH]; simpl; intros D h; auto; [| |contradiction]; destruct D
      as [L D].
    - destruct (h i); [apply IH; auto|]. rewrite <- !E_mul, <- E_add. apply E_ext. intros w. apply IH. auto.
    - rewrite <- !total_mul, <- total_add. apply total_ext. intros x. rewrite IH by auto. ring. }
  destruct n as [n|]; [|exact None_].
  assert (Known : forall h w, h n = Some w -> value (then_ m (fun x => Toss (Some n) a (k x))) f h =
    value (then_ m (fun x => k x (side w a))) f h).
  { clear None_. revert D. induction m as [result|[i|] r rest IH|i b rest IH]; simpl; intros D h w N; [rewrite N; auto| |
      |contradiction]; destruct D as [L D].
    - destruct (h i) as [v|] eqn:I; [apply IH; auto|]. apply E_ext. intros v. apply IH; auto. rewrite set_other; auto.
      congruence.
    - apply total_ext. intros x. rewrite (IH x (D x) h w N). auto. }
  intros h. simpl. destruct (h n) as [w|] eqn:N; [apply Known; auto|].
  rewrite (value_early _ _ f n h N). apply E_ext. intros w. apply Known, set_self.
Qed.

(** ** Token verification with keys *)

Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).

(** Which coin of a text is meant, and its name, if it has one. *)
Inductive kind := Drafted | Extra | Accepted.
Variable name_of : kind -> context -> option name.

(** No two coins of texts of which one goes on from the other have one name. *)
Hypothesis spared : forall k k' c d n, name_of k c = Some n -> name_of k' (c ++ d) = Some n -> k = k' /\ d = [].

Fixpoint keyed_chain (depth : nat) (c : context) : keyed (list token) :=
  match depth with
  | O => Result []
  | S less => Draw (name_of Drafted c) (q c) (fun x => then_ (keyed_chain less (c ++ [x])) (fun path => Result (x :: path)))
  end.

Definition extra (c : context) (r : row) : keyed context := Draw (name_of Extra c) r (fun y => Result (c ++ [y])).
Definition coin (c : context) (x : token) (yes no : keyed context) : keyed context :=
  Toss (name_of Accepted c) (share (p c x) (q c x)) (fun b => if b then yes else no).
Definition residual (c : context) : row := normalise V (excess (p c) (q c)).

Fixpoint keyed_verify (path : list token) (c : context) : keyed context :=
  match path with
  | [] => extra c (p c)
  | x :: rest => coin c x (keyed_verify rest (c ++ [x])) (extra c (residual c))
  end.

Definition keyed_call (depth : nat) (c : context) : keyed context :=
  then_ (keyed_chain depth c) (fun path => keyed_verify path c).

(** The decoder that draws a token only once the one before is accepted. *)
Fixpoint lazy_call (depth : nat) (c : context) : keyed context :=
  match depth with
  | O => extra c (p c)
  | S less => Draw (name_of Drafted c) (q c) (fun x => coin c x (lazy_call less (c ++ [x])) (extra c (residual c)))
  end.

Fixpoint several (call : context -> keyed context) (n : nat) (c : context) : keyed context :=
  match n with O => Result c | S n => then_ (call c) (several call n) end.

Lemma chain_draws : forall depth c, draws (keyed_chain depth c).
Proof.
  assert (T : forall A B (m : keyed A) (g : A -> B), draws m -> draws (then_ m (fun a => Result (g a)))).
  { intros A B m g. induction m as [result|n r rest IH|n a rest IH]; simpl; auto. intros [L D]. auto. }
  induction depth as [|depth IH]; simpl; intros c; auto.
Qed.

Lemma call_is_lazy : forall A depth c (k : context -> keyed A) f h,
  value (then_ (keyed_call depth c) k) f h = value (then_ (lazy_call depth c) k) f h.
Proof.
  intros A. induction depth as [|depth IH]; intros c k f h; [reflexivity|]. unfold keyed_call. cbn [keyed_chain lazy_call].
  assert (N : forall x h, value (then_ (then_ (then_ (keyed_chain depth (c ++ [x])) (fun path => Result (x :: path)))
      (fun path => keyed_verify path c)) k) f h =
    value (then_ (coin c x (lazy_call depth (c ++ [x])) (extra c (residual c))) k) f h).
  { intros x g. rewrite then_then, then_then.
    transitivity (value (then_ (keyed_chain depth (c ++ [x])) (fun path => Toss (name_of Accepted c) (share (p c x) (q c x))
      (fun b => then_ (if b then keyed_verify path (c ++ [x]) else extra c (residual c)) k))) f g).
    { apply value_after. intros path h'. reflexivity. }
    rewrite tossed_first by apply chain_draws. unfold coin. cbn [then_].
    assert (B : forall (b : bool) h, value (then_ (keyed_chain depth (c ++ [x]))
        (fun path => then_ (if b then keyed_verify path (c ++ [x]) else extra c (residual c)) k)) f h =
      value (then_ (if b then lazy_call depth (c ++ [x]) else extra c (residual c)) k) f h).
    { intros [|] h'; [rewrite <- then_then; apply IH|apply discarded, chain_draws]. }
    pose proof (B true) as Bt. pose proof (B false) as Bf. simpl in Bt, Bf. simpl.
    destruct (name_of Accepted c) as [n|]; [|rewrite Bt, Bf; auto].
    destruct (g n); [apply B|]. apply E_ext. intros w. apply B. }
  simpl. destruct (name_of Drafted c) as [n|].
  - destruct (h n); [apply N|]. apply E_ext. intros w. apply N.
  - apply total_ext. intros x. rewrite N. auto.
Qed.

Lemma calls_are_lazy : forall depth n c f h, value (several (keyed_call depth) n c) f h = value (several (lazy_call
  depth) n c) f h.
Proof.
  intros depth. induction n as [|n IH]; intros c f h; [reflexivity|]. simpl. rewrite <- call_is_lazy.
  apply value_after. intros a g. apply IH.
Qed.

(** *** That decoder reads no name twice *)

(** The names of [c] and of what may follow are unread, but for some at [c] itself. *)
Definition left_ (spent : kind -> Prop) (read : list name) (c : context) : Prop :=
  forall k d n, name_of k (c ++ d) = Some n -> ~ (d = [] /\ spent k) -> ~ In n read.

Definition noted (n : option name) (read : list name) : list name := match n with Some n => n :: read | None => read end.

Lemma left_next : forall spent read c x, left_ spent read c -> left_ (fun _ => False) read (c ++ [x]).
Proof. intros spent read c x H k d n N _. rewrite <- app_assoc in N. apply (H k ([x] ++ d) n N). intros [Z _].
discriminate. Qed.

Lemma left_noted : forall spent read c k, left_ spent read c -> left_ (fun j => spent j \/ j = k) (noted (name_of k c)
  read) c.
Proof.
  intros spent read c k H j d n N F. assert (G : ~ In n read) by (apply (H j d n N); intros [Z S]; apply F; auto).
  destruct (name_of k c) as [m|] eqn:M; simpl; auto. intros [<-|I]; auto.
  destruct (spared k j c d m M N) as [-> ->]. apply F. auto.
Qed.

Lemma once_noted : forall A n r (rest : token -> keyed A) read, (forall m, n = Some m -> ~ In m read) ->
  (forall x, once (noted n read) (rest x)) -> once read (Draw n r rest).
Proof. intros A [n|] r rest read H O; simpl in *; auto. Qed.

Lemma once_tossed : forall A n a (rest : bool -> keyed A) read, (forall m, n = Some m -> ~ In m read) ->
  (forall b, once (noted n read) (rest b)) -> once read (Toss n a rest).
Proof. intros A [n|] a rest read H O; simpl in *; auto. Qed.

Lemma left_here : forall spent read c k m, left_ spent read c -> ~ spent k -> name_of k c = Some m -> ~ In m read.
Proof. intros spent read c k m H N M. apply (H k [] m); [rewrite app_nil_r; auto|tauto]. Qed.

Lemma lazy_once : forall depth c (k : context -> keyed context) read,
  (forall c' read, left_ (fun _ => False) read c' -> once read (k c')) ->
  left_ (fun _ => False) read c -> once read (then_ (lazy_call depth c) k).
Proof.
  assert (X : forall spent c r (k : context -> keyed context) read,
    (forall c' read, left_ (fun _ => False) read c' -> once read (k c')) ->
    left_ spent read c -> ~ spent Extra -> once read (then_ (extra c r) k)).
  { intros spent c r k read H L N. unfold extra. cbn [then_]. apply once_noted; [intros m; apply (left_here spent); auto|].
    intros x. apply H. apply (left_next (fun j => spent j \/ j = Extra)), left_noted. auto. }
  induction depth as [|depth IH]; intros c k read H L; [apply (X _ c (p c) k read H L); tauto|].
  cbn [lazy_call then_]. apply once_noted; [intros m; apply (left_here (fun _ => False)); auto|]. intros x.
  pose proof (left_noted _ _ _ Drafted L) as L1. unfold coin. cbn [then_].
  apply once_tossed; [intros m; apply (left_here _ _ _ _ m L1); intros [[]|]; discriminate|].
  pose proof (left_noted _ _ _ Accepted L1) as L2. intros [|].
  - apply IH; auto. apply (left_next _ _ _ x L2).
  - apply (X _ c _ k _ H L2). intros [[[]|]|]; discriminate.
Qed.

Lemma several_once : forall depth n c read, left_ (fun _ => False) read c -> once read (several (lazy_call depth) n c).
Proof. intros depth. induction n as [|n IH]; intros c read L; simpl; auto. apply lazy_once; auto. Qed.

(** *** It asks for the rows of the texts that it may come to *)

Variable most : nat.
Definition within (c : context) : Prop := Texts.known V c /\ (length c <= most)%nat.
Hypothesis asked_within : forall c, within c -> asked (q c) /\ asked (p c) /\ asked (residual c) /\
  forall x, In x (vocabulary V) -> tossed (share (p c x) (q c x)).

Definition longer (depth : nat) (c d : context) : Prop := Texts.known V d /\ (length d <= length c + S depth)%nat.

Lemma known_more : forall c x, Texts.known V c -> In x (vocabulary V) -> Texts.known V (c ++ [x]).
Proof. intros c x C I. apply known_app; auto. intros y [<-|[]]. auto. Qed.

Lemma lazy_asks : forall depth c, Texts.known V c -> (length c + depth <= most)%nat -> asks (lazy_call depth c) (longer
  depth c).
Proof.
  assert (X : forall c r depth, Texts.known V c -> asked r -> asks (extra c r) (longer depth c)).
  { intros c r depth C K. simpl. split; auto. intros y I. split; [apply known_more; auto|]. rewrite app_length. simpl.
    lia. }
  induction depth as [|depth IH]; intros c C L; destruct (asked_within c) as [Kq [Kp [Kr Kt]]]; try (split; auto; lia).
  - apply (X c (p c) 0%nat); auto.
  - simpl. split; auto. intros x I. split; auto. intros [|]; [|apply (X c _ (S depth)); auto].
    assert (W : asks (lazy_call depth (c ++ [x])) (longer depth (c ++ [x])))
      by (apply IH; [apply known_more; auto|rewrite app_length; simpl; lia]).
    assert (G : forall A (m : keyed A) (f g : A -> Prop), asks m f -> (forall a, f a -> g a) -> asks m g).
    { intros A m f g. induction m as [result|n r rest IHm|n a rest IHm]; simpl; auto; intros [K P] H; split; auto. }
    apply (G _ _ _ _ W). intros d [D B]. split; auto. rewrite app_length in B. simpl in B. lia.
Qed.

Lemma several_asks : forall depth n c, Texts.known V c -> (length c + n * S depth <= most)%nat ->
  asks (several (lazy_call depth) n c) (fun _ => True).
Proof.
  intros depth. induction n as [|n IH]; intros c C L; simpl; auto. simpl in L.
  apply (asks_then _ _ _ _ (longer depth c)); [apply lazy_asks; auto; lia|]. intros d [D B]. apply IH; auto. lia.
Qed.

(** *** Its law is that of token verification *)

Lemma fresh_then : forall A B (m : keyed A) (k : A -> keyed B) f,
  mean (fresh (then_ m k)) f = mean (fresh m) (fun a => mean (fresh (k a)) f).
Proof.
  intros A B m k f. induction m as [result|n r rest IH|n a rest IH]; simpl; auto.
  - apply total_ext. intros x. rewrite IH. auto.
  - rewrite !IH. auto.
Qed.

Lemma proper_then : forall A B (m : keyed A) (k : A -> keyed B) f g, proper V (fresh m) f ->
  (forall a, f a -> proper V (fresh (k a)) g) -> proper V (fresh (then_ m k)) g.
Proof.
  intros A B m k f g. induction m as [result|n r rest IH|n a rest IH]; simpl; intros P H; auto.
  - destruct P as [L P]. split; auto.
  - destruct P as [L [P1 P2]]. auto.
Qed.

Lemma lazy_law : forall depth c f, mean (fresh (lazy_call depth c)) f =
  mean (token_iteration V p q depth c) (fun s => total (fun y => snd s y * f (fst s ++ [y]))).
Proof.
  induction depth as [|depth IH]; intros c f; [reflexivity|]. unfold token_iteration. simpl. apply total_ext. intros x.
  f_equal.
  rewrite mean_bind, mean_bind. simpl. rewrite mean_add, !mean_mul, IH. unfold token_iteration. rewrite mean_bind.
  rewrite (mean_const V _ _ _ _ (path_possible V q q_rows true depth (c ++ [x]))). auto.
Qed.

Lemma lazy_proper : forall depth c, proper V (fresh (lazy_call depth c)) (fun _ => True).
Proof.
  induction depth as [|depth IH]; intros c; simpl; [split; auto|]. split; auto. intros x I Q.
  pose proof (token_proper V p q p_rows q_rows 1 c) as T. unfold token_iteration in T. simpl in T.
  destruct T as [_ T]. destruct (T x I Q) as [B [_ R]]. split; auto. split; auto. intros L. destruct (R L) as [_ W].
  split; auto.
Qed.

Theorem keyed_token_lossless : forall depth n c u, Texts.known V c -> Texts.known V u -> (length u <= n)%nat ->
  (length c + n * S depth <= most)%nat ->
  value (several (keyed_call depth) n c) (begins (c ++ u)) (fun _ => None) = joint p u c.
Proof.
  intros depth n c u C U N M.
  assert (P : forall n c, proper V (fresh (several (lazy_call depth) n c)) (fun _ => True)).
  { clear n c C N M. induction n as [|n IH]; intros c; simpl; auto.
    apply (proper_then _ _ _ _ _ _ (lazy_proper depth c)). auto. }
  rewrite calls_are_lazy, (value_once _ _ _ _ _ [] (fun _ => None) (several_once depth n c [] ltac:(intros ? ? ? ? ? []))
    ltac:(auto) (P n c) (several_asks depth n c C M)).
  destruct (verifiers_text_follow V p q p_rows q_rows (fun _ => depth) (fun _ => NoShape) true n c u C U N) as [T _].
  rewrite <- T. generalize (begins (c ++ u)) as f. intros f. clear - p_rows q_rows. revert c.
  induction n as [|n IH]; intros c; [reflexivity|].
  simpl. rewrite fresh_then, lazy_law. unfold stateless, ends, always_stops. rewrite !mean_bind. apply mean_ext.
  intros [d r]. simpl.
  apply total_ext. intros y. rewrite IH. auto.
Qed.

End Keyed.

(** ** Contexts that produced a token draw fresh: no more is needed *)

Section Committed.
Variable place : Type.  (** what a coin is a function of, such as the last tokens *)
Variable same_place : forall a b : place, {a = b} + {a <> b}.
Variable place_of : context -> place.
Variable with_key : kind -> bool.  (** which coins are functions of a key, each of its own *)

Definition committed (c : context) : bool :=
  existsb (fun i => if same_place (place_of (firstn i c)) (place_of c) then true else false) (seq 0 (length c)).

Definition committed_name (k : kind) (c : context) : option (kind * place) :=
  if with_key k && negb (committed c) then Some (k, place_of c) else None.

Theorem committed_spared : forall k k' c d n,
  committed_name k c = Some n -> committed_name k' (c ++ d) = Some n -> k = k' /\ d = [].
Proof.
  intros k k' c d n. unfold committed_name. destruct (with_key k && negb (committed c)); [|discriminate].
  intros A. injection A as <-. destruct (with_key k'); [|discriminate].
  destruct (committed (c ++ d)) eqn:C; [discriminate|].
  intros B. injection B as -> B. split; auto. destruct d as [|x d]; auto. exfalso.
  apply not_true_iff_false in C. apply C. unfold committed. apply existsb_exists. exists (length c). split.
  - apply in_seq. rewrite app_length. simpl. lia.
  - rewrite firstn_app, Nat.sub_diag, firstn_all, app_nil_r, B. destruct (same_place _ _); congruence.
Qed.

End Committed.

(** Each coin a function of a key of its own and of a place of the text, fresh where the place has produced a token: over all
    keys the text of token verification follows the target. *)
Theorem committed_token_lossless : forall V place (same_place : forall a b : place, {a = b} + {a <> b})
  (same : forall a b : kind * place, {a = b} + {a <> b})
  (place_of : context -> place) with_key
  secret (race : program secret) answer side (asked : row -> Prop) (tossed : R -> Prop) (p q : context -> row) most,
  proper V race (fun _ : secret => True) ->
  (forall r f, asked r -> is_row V r -> mean V race (fun w => f (answer w r)) = total V (fun x => r x * f x)) ->
  (forall a f, tossed a -> 0 <= a <= 1 -> mean V race (fun w => f (side w a)) = a * f true + (1 - a) * f false) ->
  (forall c, is_row V (p c)) -> (forall c, is_row V (q c)) ->
  (forall c, within V most c -> asked (q c) /\ asked (p c) /\ asked (residual V p q c) /\
    forall x, In x (vocabulary V) -> tossed (share (p c x) (q c x))) ->
  forall depth n c u, Texts.known V c -> Texts.known V u -> (length u <= n)%nat -> (length c + n * S depth <= most)%nat ->
  let name_of := committed_name place same_place place_of with_key in
  value V (kind * place) same secret race answer side
    (several (kind * place) (keyed_call V (kind * place) p q name_of depth) n c)
    (begins (c ++ u)) (fun _ => None) = joint p u c.
Proof.
  intros. eapply keyed_token_lossless; eauto. apply committed_spared.
Qed.
