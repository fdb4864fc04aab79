(** Token verification, block verification, HSD, naive HSD and greedy block verification as Code.v has them from the
    Python: each is the program of Programs.v, of which the theorems are proved, or a walk down the chain and back. *)

Require Import Reals Lra List Arith Bool FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code CodeFacts.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section CodeChains.
Variable V : nat.
Variables p q at_leaf : context -> row.
Notation node_at := (node_at q at_leaf).
Notation chain_at := (chain_at q at_leaf).
Notation chained := (chained q at_leaf).
Notation along := (along q at_leaf).
Notation inner := (inner q at_leaf).
Notation leaf := (leaf q at_leaf).
Notation inside := (inside q).
Notation below := (below V).
Notation back := (back V).
Notation beyond := (beyond V).

(** ** Token verification *)

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
  rewrite <- (walked V q at_leaf p block_next (fun w => w) block_coin block_residual path c 1 None) by auto. f_equal.
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
  rewrite combine_rev by (rewrite (states_length q at_leaf); auto). rewrite !rev_length, (states_length q at_leaf), Nat.eqb_refl.
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

Theorem hsd_code : forall fuel path c,
  shown (hsd.verify V fuel (chained path c) p) =
  or_else (hsd_verify V p q path c) (beyond hsd_residual path c (1, 1)).
Proof.
  intros fuel path c. unfold hsd_verify. rewrite hsd_is_walk.
  rewrite <- (walked V q at_leaf p hsd_next rate hsd_coin hsd_residual path c (1, 1) None) by auto. f_equal.
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
  unfold hsd.step_back, same_length. rewrite !rev_length, map_length, (states_length q at_leaf), Nat.eqb_refl.
  rewrite combine_rev by (rewrite map_length, (states_length q at_leaf); auto). rewrite combine_map, <- map_rev.
  match goal with |- ?loop _ _ _ = _ => set (B := loop) end.
  assert (K : forall items last left, Forall inside items ->
    B (map (fun item => (fst item, rate (snd item))) items) last left = back hsd_coin hsd_residual items last left).
  { induction items as [|[n s] items IH]; intros last left F; [reflexivity|]. inversion F as [|? ? I F']; subst.
    unfold inside in I. cbn [fst] in I. unfold B. cbn [back]. unfold hsd_coin, hsd_residual. rewrite <- I.
    apply Accept_ext; [reflexivity|]. apply IH. auto. }
  apply K, inside_inner.
Qed.

(** ** Naive HSD *)

Definition naive_next (a : R) (c : context) (x : token) : R := a * ratio (p c x) (q c x).
Definition naive_residual (a : R) (c : context) : row := excess (scale a (p c)) (q c).
Definition naive_full (a : R) : R := minimum a 1.
Definition naive_coin (a : R) (c : context) : R :=
  share (total V (naive_residual a c)) (total V (excess (q c) (scale a (p c)))).

Theorem hsd_naive_code : forall fuel path c,
  shown (hsd_naive.verify V fuel (chained path c) p) =
  or_else (below p naive_next naive_full naive_coin naive_residual path c 1) (beyond naive_residual path c 1).
Proof.
  intros fuel path c.
  rewrite <- (walked V q at_leaf p naive_next naive_full naive_coin naive_residual path c 1 None) by auto. f_equal.
  unfold hsd_naive.verify, path_of, chained. cbn [root_of]. rewrite first_path_along.
  rewrite along_inner, unsnoc_app, <- along_inner. cbn [get].
  match goal with |- ?loop _ _ = _ => set (L := loop) end.
  assert (H : forall down d a rs, L (pairwise (along down d)) (rs ++ [a]) =
    L [] (rs ++ states naive_next down d a ++ [final naive_next down d a])).
  { induction down as [|x rest IH]; intros d a rs; [reflexivity|].
    rewrite pairwise_along. cbn [states final app].
    specialize (IH (d ++ [x]) (naive_next a d x) (rs ++ [a])). rewrite <- !app_assoc in IH. refine (eq_trans _ IH).
    unfold L at 1. unfold chain_at at 1. rewrite token_at. cbn [get]. rewrite last_of_app. cbn [get].
    rewrite <- app_assoc. reflexivity. }
  refine (eq_trans (H path c 1 []) _). unfold L. rewrite app_nil_l, unsnoc_app. cbn [get].
  apply Accept_ext; [reflexivity|].
  unfold hsd.step_back, same_length. rewrite !rev_length, (states_length q at_leaf), Nat.eqb_refl.
  rewrite combine_rev by (rewrite (states_length q at_leaf); auto).
  match goal with |- ?loop _ _ _ = _ => set (B := loop) end.
  assert (K : forall items last left, Forall inside items ->
    B items last left = back naive_coin naive_residual items last left).
  { induction items as [|[n a] items IH]; intros last left F; [reflexivity|]. inversion F as [|? ? I F']; subst.
    unfold inside in I. cbn [fst] in I. unfold B. cbn [back]. unfold naive_coin, naive_residual. rewrite <- I.
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
  rewrite <- (walked V q at_leaf p greedy_next greedy_full greedy_coin greedy_residual path c (1, 1) node) by auto. f_equal.
  refine (eq_trans E _). unfold L. rewrite !app_nil_l, !unsnoc_app. cbn [get].
  apply Accept_ext; [reflexivity|].
  unfold same_length. rewrite !rev_length, !map_length, (states_length q at_leaf), Nat.eqb_refl.
  rewrite combine_rev by (rewrite map_length, (states_length q at_leaf); auto).
  rewrite combine_rev by (rewrite combine_length, !map_length, (states_length q at_leaf), Nat.min_id; auto).
  rewrite !combine_map.
  match goal with |- ?loop _ _ _ = _ => set (B := loop) end.
  assert (K : forall items last left, Forall inside items ->
    B (map (fun item => (fst item, fst (snd item), snd (snd item))) items) last left =
    back greedy_coin greedy_residual items last left).
  { induction items as [|[n s] items IH]; intros last left F; [reflexivity|]. inversion F as [|? ? I F']; subst.
    unfold inside in I. cbn [fst] in I. unfold B. cbn [back]. unfold greedy_coin, greedy_residual. rewrite <- I.
    apply Accept_ext; [reflexivity|]. apply IH. auto. }
  refine (eq_trans _ (K _ _ _ (inside_inner _ _ _ _ _ _))). f_equal. rewrite map_rev. f_equal.
  generalize (inner path c). generalize (states greedy_next path c (1, 1)).
  induction l as [|s l IH]; intros [|n k]; simpl; auto. rewrite IH. auto.
Qed.

End CodeChains.
