(** Written by python_to_rocq.py from theory/verifiers, in the words of Python.v. *)

Require Import List Bool.
Require Import Programs Rules Python Numbers.
Import ListNotations RealPrograms.
Module N := Real.

(** theory/verifiers/token.py *)
Module token.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
(fix round1' items1' {struct items1'} :=
match items1' with
| [] =>
get (last_of (path_of draft)) (fun item2' =>
let leaf := item2' in
done ((leaf, target (prefix_of leaf))))
| (node, child) :: items1' =>
get (token_of child) (fun token3' =>
let '(p, q, x) := (target (prefix_of node), proposal_of node, token3') in
Accept (share (p x) (q x)) (fun coin4' =>
if coin4' then
round1' items1'
else
done ((node, normalise V (excess p q)))))
end) (pairwise (path_of draft)).

End token.

(** theory/verifiers/block.py *)
Module block.

Definition rejected (V fuel : nat) (inner: list Node) (w: list Number) (target: Rows) : program (option Stop) :=
(fix round1' items1' node residual {struct items1'} :=
match items1' with
| [] =>
if same_length (rev inner) (rev w) then
get node (fun node =>
get residual (fun residual =>
done (node, normalise V residual)))
else raise
| (node, w_i) :: items1' =>
let residual := excess (scale w_i (target (prefix_of node))) (proposal_of node) in
let A := total V residual in
Accept (share A (N.add A (N.sub N.one w_i))) (fun coin2' =>
if coin2' then
done (node, normalise V residual)
else
round1' items1' (Some node) (Some residual))
end) (combine (rev inner) (rev w)) None None.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
get (unsnoc (path_of draft)) (fun '(inner, leaf) =>
let w := [one (target (prefix_of leaf))] in
(fix round1' items1' w {struct items1'} :=
match items1' with
| [] =>
get (unsnoc w) (fun '(w, last2') =>
Accept last2' (fun coin3' =>
if coin3' then
done ((leaf, target (prefix_of leaf)))
else
rejected V fuel inner w target))
| (node, child) :: items1' =>
get (token_of child) (fun token4' =>
let '(p, q, x) := (target (prefix_of node), proposal_of node, token4') in
get (last_of w) (fun item5' =>
let w := w ++ [share (N.mul item5' (p x)) (q x)] in
round1' items1' w))
end) (pairwise (path_of draft)) w).

End block.

(** theory/verifiers/greedy_block.py *)
Module greedy_block.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
get (unsnoc (path_of draft)) (fun '(inner, leaf) =>
let '(P, Q) := ([one (target (prefix_of leaf))], [one (target (prefix_of leaf))]) in
(fix round1' items1' P Q node {struct items1'} :=
match items1' with
| [] =>
get (unsnoc P) (fun '(P, last2') =>
get (unsnoc Q) (fun '(Q, last3') =>
Accept (share last2' last3') (fun coin4' =>
if coin4' then
done ((leaf, target (prefix_of leaf)))
else
(fix round5' items5' node residual {struct items5'} :=
match items5' with
| [] =>
if same_length (rev inner) (rev P) && same_length (rev inner) (rev Q) then
get node (fun node =>
get residual (fun residual =>
done (node, normalise V residual)))
else raise
| (node, P_i, Q_i) :: items5' =>
let '(have, want) := (scale Q_i (proposal_of node), scale P_i (target (prefix_of node))) in
let residual := excess want have in
Accept (share (total V residual) (total V (excess have want))) (fun coin6' =>
if coin6' then
done (node, normalise V residual)
else
round5' items5' (Some node) (Some residual))
end) (combine (combine (rev inner) (rev P)) (rev Q)) node None)))
| (node, child) :: items1' =>
get (token_of child) (fun token7' =>
let '(p, q, x) := (target (prefix_of node), proposal_of node, token7') in
get (last_of P) (fun item8' =>
let P := P ++ [N.mul item8' (p x)] in
get (last_of Q) (fun item9' =>
let Q := Q ++ [N.mul item9' (q x)] in
round1' items1' P Q (Some node))))
end) (pairwise (path_of draft)) P Q None).

End greedy_block.

(** theory/verifiers/hsd.py *)
Module hsd.

Definition step_back (V fuel : nat) (inner: list Node) (target: Rows) (r: list Number) : program (option Stop) :=
(fix round1' items1' node residual {struct items1'} :=
match items1' with
| [] =>
if same_length (rev inner) (rev r) then
get node (fun node =>
get residual (fun residual =>
done (node, normalise V residual)))
else raise
| (node, r_t) :: items1' =>
let '(have, want) := (proposal_of node, scale r_t (target (prefix_of node))) in
let residual := excess want have in
Accept (share (total V residual) (total V (excess have want))) (fun coin2' =>
if coin2' then
done (node, normalise V residual)
else
round1' items1' (Some node) (Some residual))
end) (combine (rev inner) (rev r)) None None.

Definition judge (V fuel : nat) (path: Path) (target: Rows) : program (option Stop) :=
get (unsnoc path) (fun '(inner, leaf) =>
let R := one (target (prefix_of leaf)) in
let peak := R in
let r := [R] in
(fix round1' items1' R peak r {struct items1'} :=
match items1' with
| [] =>
get (unsnoc r) (fun '(r, last2') =>
Accept last2' (fun coin3' =>
if coin3' then
done ((leaf, target (prefix_of leaf)))
else
step_back V fuel inner target r))
| (node, child) :: items1' =>
get (token_of child) (fun token4' =>
let '(p, q, x) := (target (prefix_of node), proposal_of node, token4') in
let R := N.mul R (ratio (p x) (q x)) in
let peak := maximum peak R in
let r := r ++ [ratio R peak] in
round1' items1' R peak r)
end) (pairwise path) R peak r).

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
judge V fuel (path_of draft) target.

End hsd.

(** theory/verifiers/hsd_naive.py *)
Module hsd_naive.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
get (unsnoc (path_of draft)) (fun '(inner, leaf) =>
let R := [one (target (prefix_of leaf))] in
(fix round1' items1' R {struct items1'} :=
match items1' with
| [] =>
get (unsnoc R) (fun '(R, last2') =>
Accept (minimum last2' (one (target (prefix_of leaf)))) (fun coin3' =>
if coin3' then
done ((leaf, target (prefix_of leaf)))
else
hsd.step_back V fuel inner target R))
| (node, child) :: items1' =>
get (token_of child) (fun token4' =>
let '(p, q, x) := (target (prefix_of node), proposal_of node, token4') in
get (last_of R) (fun item5' =>
let R := R ++ [N.mul item5' (ratio (p x) (q x))] in
round1' items1' R))
end) (pairwise (path_of draft)) R).

End hsd_naive.

(** theory/verifiers/specinfer.py *)
Module specinfer.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let '(node, p) := (root_of draft, target (prefix_of (root_of draft))) in
(fix round1' fuel node p {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
let q := proposal_of node in
(fix round2' items2' node p {struct items2'} :=
match items2' with
| [] =>
done (node, p)
| child :: items2' =>
get (token_of child) (fun token3' =>
get (token_of child) (fun token4' =>
Accept (share (p token3') (q token4')) (fun coin5' =>
if coin5' then
let '(node, p) := (child, target (prefix_of child)) in
round1' fuel node p
else
let p := normalise V (excess p q) in
round2' items2' node p)))
end) (children_of node) node p
else
done (node, p)
end) fuel node p.

End specinfer.

(** theory/verifiers/rrs.py *)
Module rrs.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let '(node, p) := (root_of draft, target (prefix_of (root_of draft))) in
(fix round1' fuel node p {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
let q := proposal_of node in
(fix round2' items2' node p q {struct items2'} :=
match items2' with
| [] =>
done (node, p)
| child :: items2' =>
get (token_of child) (fun token3' =>
get (token_of child) (fun token4' =>
Accept (share (p token3') (q token4')) (fun coin5' =>
if coin5' then
let '(node, p) := (child, target (prefix_of child)) in
round1' fuel node p
else
get (token_of child) (fun token6' =>
let '(p, q) := (normalise V (excess p q), without V q token6') in
round2' items2' node p q))))
end) (children_of node) node p q
else
done (node, p)
end) fuel node p.

End rrs.

(** theory/verifiers/traversal.py *)
Module traversal.

Fixpoint traverse (V fuel : nat) (draft: Draft) (f: Node) (a: Number) (target: Rows) {struct fuel} : program (option (option Stop)) :=
match fuel with
| O => raise
| S fuel =>
let '(p, q) := (target (prefix_of f), proposal_of f) in
(fix round1' items1' a p q {struct items1'} :=
match items1' with
| [] =>
Accept a (fun coin2' =>
if coin2' then
done (Some (f, p))
else
done None)
| child :: items1' =>
get (token_of child) (fun token3' =>
let x := token3' in
call (traverse V fuel draft child (share (N.mul a (p x)) (q x)) target) (fun stop =>
match stop with
| Some stop =>
done (Some stop)
| None =>
let residual := excess (scale a p) q in
let S := total V residual in
let '(p, a) := (normalise V residual, share S (N.add S (N.sub N.one a))) in
if replacement_of draft then
round1' items1' a p q
else
let q := without V q x in
round1' items1' a p q
end))
end) (children_of f) a p q
end.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
call (traverse V fuel draft (root_of draft) (one (target (prefix_of (root_of draft)))) target) (fun stop =>
match stop with
| Some stop =>
done stop
| None =>
raise
end).

End traversal.

(** theory/verifiers/one_hot.py *)
Module one_hot.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let '(node, p) := (root_of draft, target (prefix_of (root_of draft))) in
(fix round1' fuel node p {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
(fix round2' items2' node p {struct items2'} :=
match items2' with
| [] =>
done (node, p)
| child :: items2' =>
get (token_of child) (fun token3' =>
Accept (p token3') (fun coin4' =>
if coin4' then
let '(node, p) := (child, target (prefix_of child)) in
round1' fuel node p
else
get (token_of child) (fun token5' =>
let p := without V p token5' in
round2' items2' node p)))
end) (children_of node) node p
else
done (node, p)
end) fuel node p.

End one_hot.

(** theory/verifiers/nss.py *)
Module nss.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let node := root_of draft in
(fix round1' fuel node {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
let p := target (prefix_of node) in
Choose p (fun token2' =>
let y := token2' in
let child := child_of node y in
match child with
| Some child =>
let node := child in
round1' fuel node
| None =>
done (node, point_like y p)
end)
else
done ((node, target (prefix_of node)))
end) fuel node.

End nss.

(** theory/verifiers/naive_tree.py *)
Module naive_tree.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let node := root_of draft in
(fix round1' fuel node {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
get (hd_error (children_of node)) (fun item2' =>
get (token_of item2') (fun token3' =>
let '(p, q, x) := (target (prefix_of node), proposal_of node, token3') in
Accept (share (p x) (q x)) (fun coin4' =>
if coin4' then
let y := x in
let child := child_of node y in
match child with
| Some child =>
let node := child in
round1' fuel node
| None =>
done (node, point_like y p)
end
else
Choose (normalise V (excess p q)) (fun token5' =>
let y := token5' in
let child := child_of node y in
match child with
| Some child =>
let node := child in
round1' fuel node
| None =>
done (node, point_like y p)
end))))
else
done ((node, target (prefix_of node)))
end) fuel node.

End naive_tree.

(** theory/verifiers/hu_greedy.py *)
Module hu_greedy.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let node := root_of draft in
(fix round1' fuel node {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
get (tokens_in (children_of node)) (fun tokens2' =>
get (uncons tokens2') (fun '(x, T) =>
let '(p, q) := (target (prefix_of node), off V (proposal_of node) T) in
Accept (share (p x) (q x)) (fun coin3' =>
if coin3' then
let y := x in
let child := child_of node y in
match child with
| Some child =>
let node := child in
round1' fuel node
| None =>
done (node, point_like y p)
end
else
Choose (normalise V (excess p q)) (fun token4' =>
let y := token4' in
let child := child_of node y in
match child with
| Some child =>
let node := child in
round1' fuel node
| None =>
done (node, point_like y p)
end))))
else
done ((node, target (prefix_of node)))
end) fuel node.

End hu_greedy.

(** theory/verifiers/priority.py *)
Module priority.

Definition verify (V fuel : nat) (draft: Draft) (target: Rows) : program (option Stop) :=
let node := root_of draft in
(fix round1' fuel node {struct fuel} :=
match fuel with
| O => raise
| S fuel =>
if nonempty (children_of node) then
let plan := planned_at V draft node (target (prefix_of node)) in
(fix round2' items2' node {struct items2'} :=
match items2' with
| [] =>
done ((node, normalise V (left_of plan)))
| (child, rate) :: items2' =>
Accept rate (fun coin3' =>
if coin3' then
let node := child in
round1' fuel node
else
round2' items2' node)
end) (judged_of plan node) node
else
done ((node, target (prefix_of node)))
end) fuel node.

End priority.
