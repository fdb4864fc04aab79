(** Token verification, block verification, HSD and greedy block verification as Code.v has them from the Python:
    each is the program of Programs.v, of which the theorems are proved. *)

Require Import Reals Lra List Arith Bool FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code.
Import ListNotations RealPrograms.
Open Scope R_scope.

Lemma unsnoc_app : forall A (l : list A) x, unsnoc (l ++ [x]) = Some (l, x).
Proof. intros. unfold unsnoc. rewrite rev_unit, rev_involutive. auto. Qed.

Lemma last_of_app : forall A (l : list A) x, last_of (l ++ [x]) = Some x.
Proof. intros. unfold last_of. rewrite unsnoc_app. auto. Qed.

Lemma Accept_ext : forall A a (f g : bool -> program A), f true = g true -> f false = g false -> Accept a f = Accept a g.
Proof. intros. f_equal. extensionality b. destruct b; auto. Qed.

Lemma bind_bind : forall A B C (m : program A) (f : A -> program B) (g : B -> program C),
  bind (bind m f) g = bind m (fun a => bind (f a) g).
Proof.
  intros A B C m f g. induction m as [a|r rest IH|a rest IH]; simpl; auto; f_equal; extensionality x; auto.
Qed.

Lemma bind_return : forall A (m : program A), bind m Return = m.
Proof. intros A m. induction m as [a|r rest IH|a rest IH]; simpl; auto; f_equal; extensionality x; auto. Qed.

Section CodeChains.
Variable V : nat.
Variables p q at_leaf : context -> row.
Notation node_at := (node_at q at_leaf).

Definition chain_at (path : list token) (c : context) : Node := node_at (as_children path) c.

Lemma token_at : forall d c x, token_of (node_at d (c ++ [x])) = Some x.
Proof. intros. unfold token_of. simpl. apply last_of_app. Qed.

(** The nodes of a chain. *)
Fixpoint along (path : list token) (c : context) : list Node :=
  chain_at path c :: match path with [] => [] | x :: rest => along rest (c ++ [x]) end.

Lemma first_path_along : forall path c, first_path (chain_at path c) = along path c.
Proof.
  induction path as [|x rest IH]; intros c; [reflexivity|].
  cbn [along]. rewrite <- IH. reflexivity.
Qed.

Definition chained (path : list token) (c : context) : Draft := {| root_of := chain_at path c; replacement_of := false |}.

Definition shown (m : program (option Stop)) : program (option stop) := bind m (fun found => Return (stop_of found)).

Lemma last_along : forall path c n, last_of (n :: along path c) = last_of (along path c).
Proof.
  intros. assert (H : forall A (l : list A) a b, last_of (a :: b :: l) = last_of (b :: l)).
  { intros. unfold last_of, unsnoc. simpl. destruct (rev l ++ [b]) eqn:E; simpl; auto. destruct (rev l); discriminate. }
  destruct path; apply H.
Qed.

Lemma pairwise_along : forall x rest c,
  pairwise (along (x :: rest) c) = (chain_at (x :: rest) c, chain_at rest (c ++ [x])) :: pairwise (along rest (c ++ [x])).
Proof. intros. destruct rest; reflexivity. Qed.

Lemma pairwise_end : forall c, pairwise (along [] c) = [].
Proof. reflexivity. Qed.

Theorem token_code : forall fuel path c,
  shown (token.verify V fuel (chained path c) p) = always_stops (token_verify V p q path c).
Proof.
  intros fuel path c. unfold token.verify, path_of, chained. cbn [root_of]. rewrite first_path_along.
  set (leaf := last_of (along path c)). assert (L : leaf = last_of (along path c)) by auto. clearbody leaf. revert c L.
  induction path as [|x rest IH]; intros c L.
  - rewrite L. reflexivity.
  - cbn [along] in L. rewrite last_along in L. specialize (IH _ L). rewrite pairwise_along.
    cbn -[pairwise along share excess RealPrograms.normalise token_of chain_at].
    unfold chain_at at 1. rewrite token_at. apply Accept_ext; [exact IH|reflexivity].
Qed.

(** ** Rules that walk down a chain, and back up from its end *)

Fixpoint inner (path : list token) (c : context) : list Node :=
  match path with [] => [] | x :: rest => chain_at path c :: inner rest (c ++ [x]) end.

Definition leaf (path : list token) (c : context) : Node := chain_at [] (c ++ path).

Lemma along_inner : forall path c, along path c = inner path c ++ [leaf path c].
Proof.
  induction path as [|x rest IH]; intros c; unfold leaf; cbn [along inner]; [rewrite app_nil_r; auto|].
  rewrite IH. unfold leaf. rewrite <- app_assoc. auto.
Qed.

Lemma combine_rev : forall A B (l : list A) (k : list B), length l = length k -> combine (rev l) (rev k) = rev (combine l k).
Proof.
  intros A B. assert (H : forall (l : list A) (k : list B) a b, length l = length k ->
    combine (l ++ [a]) (k ++ [b]) = combine l k ++ [(a, b)]).
  { induction l as [|a' l IH]; intros [|b' k] a b E; try discriminate; auto. simpl in *. rewrite IH; auto. }
  induction l as [|a l IH]; intros [|b k] E; try discriminate; auto. simpl in *. rewrite H, IH; auto.
  rewrite !rev_length. auto.
Qed.

(** An inner node with what belongs to it. *)
Definition inside {A} (item : Node * A) : Prop := proposal_of (fst item) = q (prefix_of (fst item)).

Lemma inside_inner : forall A path c (l : list A), Forall inside (rev (combine (inner path c) l)).
Proof.
  intros A path c l. apply Forall_rev. revert c l. induction path as [|x rest IH]; intros c [|a l]; simpl; auto.
  apply Forall_cons; [reflexivity|apply IH].
Qed.

Section Walk.
Context {state : Type}.
Variable target : context -> row.
Variable next : state -> context -> token -> state.
Variable full : state -> R.
Variable coin : state -> context -> R.
Variable residual : state -> context -> row.

(** The states of the inner nodes, and that of the leaf. *)
Fixpoint states (path : list token) (c : context) (s : state) : list state :=
  match path with [] => [] | x :: rest => s :: states rest (c ++ [x]) (next s c x) end.

Fixpoint final (path : list token) (c : context) (s : state) : state :=
  match path with [] => s | x :: rest => final rest (c ++ [x]) (next s c x) end.

Lemma states_length : forall path c s, length (states path c s) = length (inner path c).
Proof. induction path; simpl; auto. Qed.

(** As Programs.v has such rules. *)
Fixpoint below (path : list token) (c : context) (s : state) : program (option stop) :=
  match path with
  | [] => Accept (full s) (fun accepted => Return (if accepted then Some (c, target c) else None))
  | x :: rest =>
      bind (below rest (c ++ [x]) (next s c x)) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None => Accept (coin s c) (fun accepted => Return (if accepted then Some (c, normalise V (residual s c)) else None))
        end)
  end.

(** As the Python has them: from the last inner node up; [last] is the node before and its residual. *)
Fixpoint back (items : list (Node * state)) (last : option Node) (left : option row) : program (option Stop) :=
  match items with
  | [] => get last (fun node => get left (fun r => done (node, normalise V r)))
  | (node, s) :: items =>
      Accept (coin s (prefix_of node)) (fun accepted =>
        if accepted then done (node, normalise V (residual s (prefix_of node)))
        else back items (Some node) (Some (residual s (prefix_of node))))
  end.

Definition or_else (m : program (option stop)) (other : program (option stop)) : program (option stop) :=
  bind m (fun found => match found with Some s => Return (Some s) | None => other end).

Definition whole (path : list token) (c : context) (s : state) (items : list (Node * state)) last left :=
  Accept (full (final path c s)) (fun accepted =>
    if accepted then done (leaf path c, target (prefix_of (leaf path c)))
    else back (rev (items ++ combine (inner path c) (states path c s))) last left).

Lemma walk : forall path c s items last left,
  shown (whole path c s items last left) =
  or_else (below path c s) (shown (back (rev items)
    (match path with [] => last | _ => Some (chain_at path c) end)
    (match path with [] => left | _ => Some (residual s c) end))).
Proof.
  induction path as [|x rest IH]; intros c s items last left; unfold whole.
  - cbn [final states inner combine]. rewrite app_nil_r. unfold leaf. rewrite app_nil_r.
    apply Accept_ext; reflexivity.
  - specialize (IH (c ++ [x]) (next s c x) (items ++ [(chain_at (x :: rest) c, s)]) last left).
    unfold whole, leaf in IH. rewrite <- !app_assoc in IH. unfold leaf. cbn [final states inner combine].
    refine (eq_trans IH _). unfold or_else. cbn [below]. rewrite bind_bind. f_equal. extensionality found.
    destruct found as [s'|]; [reflexivity|]. rewrite rev_app_distr. cbn.
    apply Accept_ext; reflexivity.
Qed.

(** What is returned where even the root is not kept, which has probability zero. *)
Definition beyond (path : list token) (c : context) (s : state) : program (option stop) :=
  Return (match path with [] => None | _ => Some (c, normalise V (residual s c)) end).

Lemma walked : forall path c s last, (path = [] -> last = None) ->
  shown (whole path c s [] last None) = or_else (below path c s) (beyond path c s).
Proof. intros path c s last H. rewrite walk. destruct path; [rewrite H by auto|]; reflexivity. Qed.

End Walk.

(** ** Block verification *)

Definition block_residual (w : R) (c : context) : row := excess (scale w (p c)) (q c).
Definition block_coin (w : R) (c : context) : R :=
  share (total V (block_residual w c)) (total V (block_residual w c) + (1 - w)).
Definition block_next (w : R) (c : context) (x : token) : R := share (w * p c x) (q c x).

Lemma block_is_walk : forall path c w,
  block_below V p q path c w = below p block_next (fun w => w) block_coin block_residual path c w.
Proof. induction path as [|x rest IH]; intros c w; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Theorem block_code : forall fuel path c,
  shown (block.verify V fuel (chained path c) p) =
  or_else (block_verify V p q path c) (beyond block_residual path c 1).
Proof.
  intros fuel path c. unfold block_verify. rewrite block_is_walk.
  rewrite <- (walked p block_next (fun w => w) block_coin block_residual path c 1 None) by auto. f_equal.
  unfold block.verify, path_of, chained. cbn [root_of]. rewrite first_path_along.
  rewrite along_inner, unsnoc_app, <- along_inner. cbn [get one]. 
  match goal with |- ?loop _ _ = _ => set (L := loop) end.
  assert (H : forall down d w ws, L (pairwise (along down d)) (ws ++ [w]) =
    L [] (ws ++ states block_next down d w ++ [final block_next down d w])).
  { induction down as [|x rest IH]; intros d w ws; [reflexivity|].
    rewrite pairwise_along. cbn [states final app].
    specialize (IH (d ++ [x]) (block_next w d x) (ws ++ [w])). rewrite <- !app_assoc in IH. refine (eq_trans _ IH).
    unfold L at 1. unfold chain_at at 1. rewrite token_at. cbn [get]. rewrite last_of_app. cbn [get].
    rewrite <- app_assoc. reflexivity. }
  refine (eq_trans (H path c 1 []) _). unfold L. rewrite app_nil_l, unsnoc_app. cbn [get].
  apply Accept_ext; [reflexivity|].
  unfold block.rejected, same_length.
  rewrite combine_rev by (rewrite states_length; auto). rewrite !rev_length, states_length, Nat.eqb_refl.
  match goal with |- ?loop _ _ _ = _ => set (B := loop) end.
  assert (K : forall items last left, Forall inside items -> B items last left = back block_coin block_residual items last left).
  { induction items as [|[n w] items IH]; intros last left F; [reflexivity|]. inversion F as [|? ? I F']; subst.
    unfold inside in I. cbn [fst] in I. unfold B. cbn [back]. unfold block_coin, block_residual. rewrite <- I.
    apply Accept_ext; [reflexivity|]. apply IH. auto. }
  apply K, inside_inner.
Qed.

(** ** HSD *)

Definition rate (s : R * R) : R := ratio (fst s) (snd s).
Definition hsd_next (s : R * R) (c : context) (x : token) : R * R :=
  let next := fst s * ratio (p c x) (q c x) in (next, maximum (snd s) next).
Definition hsd_residual (s : R * R) (c : context) : row := excess (scale (rate s) (p c)) (q c).
Definition hsd_coin (s : R * R) (c : context) : R :=
  share (total V (hsd_residual s c)) (total V (excess (q c) (scale (rate s) (p c)))).

Lemma hsd_is_walk : forall path c R peak,
  hsd_below V p q path c R peak = below p hsd_next rate hsd_coin hsd_residual path c (R, peak).
Proof. induction path as [|x rest IH]; intros c R peak; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

(** The items of a loop over several lists. *)
Lemma combine_map : forall A B C (f : B -> C) (l : list A) (k : list B),
  combine l (map f k) = map (fun item => (fst item, f (snd item))) (combine l k).
Proof. intros A B C f. induction l as [|a l IH]; intros [|b k]; simpl; auto. rewrite IH. auto. Qed.

Theorem hsd_code : forall fuel path c,
  shown (hsd.verify V fuel (chained path c) p) =
  or_else (hsd_verify V p q path c) (beyond hsd_residual path c (1, 1)).
Proof.
  intros fuel path c. unfold hsd_verify. rewrite hsd_is_walk.
  rewrite <- (walked p hsd_next rate hsd_coin hsd_residual path c (1, 1) None) by auto. f_equal.
  unfold hsd.verify, hsd.judge, path_of, chained. cbn [root_of]. rewrite first_path_along.
  rewrite along_inner, unsnoc_app, <- along_inner. cbn [get].
  match goal with |- ?loop _ _ _ _ = _ => set (L := loop) end.
  assert (H : forall down d s rs, L (pairwise (along down d)) (fst s) (snd s) (rs ++ [rate s]) =
    L [] (fst (final hsd_next down d s)) (snd (final hsd_next down d s))
      (rs ++ map rate (states hsd_next down d s) ++ [rate (final hsd_next down d s)])).
  { induction down as [|x rest IH]; intros d s rs; [reflexivity|].
    rewrite pairwise_along. cbn [states final app map].
    specialize (IH (d ++ [x]) (hsd_next s d x) (rs ++ [rate s])). rewrite <- !app_assoc in IH. refine (eq_trans _ IH).
    unfold L at 1. unfold chain_at at 1. rewrite token_at. cbn [get]. rewrite <- app_assoc. reflexivity. }
  specialize (H path c (1, 1) []). assert (U : rate (1, 1) = 1).
  { unfold rate, ratio. simpl. destruct (Rlt_dec 0 1); [field|auto]. }
  rewrite U in H at 1. refine (eq_trans H _). unfold L. rewrite app_nil_l, unsnoc_app. cbn [get].
  apply Accept_ext; [reflexivity|].
  unfold hsd.step_back, same_length. rewrite !rev_length, map_length, states_length, Nat.eqb_refl.
  rewrite combine_rev by (rewrite map_length, states_length; auto). rewrite combine_map, <- map_rev.
  match goal with |- ?loop _ _ _ = _ => set (B := loop) end.
  assert (K : forall items last left, Forall inside items ->
    B (map (fun item => (fst item, rate (snd item))) items) last left = back hsd_coin hsd_residual items last left).
  { induction items as [|[n s] items IH]; intros last left F; [reflexivity|]. inversion F as [|? ? I F']; subst.
    unfold inside in I. cbn [fst] in I. unfold B. cbn [back]. unfold hsd_coin, hsd_residual. rewrite <- I.
    apply Accept_ext; [reflexivity|]. apply IH. auto. }
  apply K, inside_inner.
Qed.

(** ** Greedy block verification *)

Definition greedy_next (s : R * R) (c : context) (x : token) : R * R := (fst s * p c x, snd s * q c x).
Definition greedy_residual (s : R * R) (c : context) : row := excess (scale (fst s) (p c)) (scale (snd s) (q c)).
Definition greedy_full (s : R * R) : R := share (fst s) (snd s).
Definition greedy_coin (s : R * R) (c : context) : R :=
  share (total V (greedy_residual s c)) (total V (excess (scale (snd s) (q c)) (scale (fst s) (p c)))).

Lemma greedy_is_walk : forall path c P Q,
  greedy_below V q p path c P Q = below p greedy_next greedy_full greedy_coin greedy_residual path c (P, Q).
Proof. induction path as [|x rest IH]; intros c P Q; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Theorem greedy_code : forall fuel path c,
  shown (greedy_block.verify V fuel (chained path c) p) =
  or_else (greedy_below V q p path c 1 1) (beyond greedy_residual path c (1, 1)).
Proof.
  intros fuel path c. rewrite greedy_is_walk.
  unfold greedy_block.verify, path_of, chained. cbn [root_of]. rewrite first_path_along.
  rewrite along_inner, unsnoc_app, <- along_inner. cbn [get].
  match goal with |- shown (?loop _ _ _ _) = _ => set (L := loop) end.
  assert (H : forall down d s Ps Qs last, exists node, (down = [] -> node = last) /\
    L (pairwise (along down d)) (Ps ++ [fst s]) (Qs ++ [snd s]) last =
    L [] (Ps ++ map fst (states greedy_next down d s) ++ [fst (final greedy_next down d s)])
         (Qs ++ map snd (states greedy_next down d s) ++ [snd (final greedy_next down d s)]) node).
  { induction down as [|x rest IH]; intros d s Ps Qs last; [exists last; split; reflexivity|].
    destruct (IH (d ++ [x]) (greedy_next s d x) (Ps ++ [fst s]) (Qs ++ [snd s]) (Some (chain_at (x :: rest) d)))
      as [node [_ E]].
    exists node. split; [discriminate|]. rewrite <- !app_assoc in E. rewrite pairwise_along.
    cbn [states final app map]. refine (eq_trans _ E).
    unfold L at 1. unfold chain_at at 1. rewrite token_at. cbn [get]. rewrite !last_of_app. cbn [get].
    rewrite <- !app_assoc. reflexivity. }
  destruct (H path c (1, 1) [] [] None) as [node [N E]].
  rewrite <- (walked p greedy_next greedy_full greedy_coin greedy_residual path c (1, 1) node) by auto. f_equal.
  refine (eq_trans E _). unfold L. rewrite !app_nil_l, !unsnoc_app. cbn [get].
  apply Accept_ext; [reflexivity|].
  unfold same_length. rewrite !rev_length, !map_length, states_length, Nat.eqb_refl.
  rewrite combine_rev by (rewrite map_length, states_length; auto).
  rewrite combine_rev by (rewrite combine_length, !map_length, states_length, Nat.min_id; auto).
  rewrite !combine_map.
  match goal with |- ?loop _ _ _ = _ => set (B := loop) end.
  assert (K : forall items last left, Forall inside items ->
    B (map (fun item => (fst item, fst (snd item), snd (snd item))) items) last left =
    back greedy_coin greedy_residual items last left).
  { induction items as [|[n s] items IH]; intros last left F; [reflexivity|]. inversion F as [|? ? I F']; subst.
    unfold inside in I. cbn [fst] in I. unfold B. cbn [back]. unfold greedy_coin, greedy_residual. rewrite <- I.
    apply Accept_ext; [reflexivity|]. apply IH. auto. }
  refine (eq_trans _ (K _ _ _ (inside_inner _ _ _ _))). f_equal. rewrite map_rev. f_equal.
  generalize (inner path c). generalize (states greedy_next path c (1, 1)).
  induction l as [|s l IH]; intros [|n k]; simpl; auto. rewrite IH. auto.
Qed.

End CodeChains.
