// SPDX-License-Identifier: BSD-2-Clause
// A claim contains the nodes that the backend supports. It leaves out a supported node that depends on an unsupported
// node, if that unsupported node depends on a node of the claim. While the claim is made, the register number of each
// value contains a mark; the real register numbers are assigned later.
#include "backends/common/claim.h"

#include "backends/common/shape_nodes.h"
#include "ir/effects.h"
#include "ops/list/op_table.h"

// Marks of values. INSIDE: a node of the claim makes the value. BEHIND: a node outside the claim makes the value from
// values of the claim.
enum { NONE, INSIDE, BEHIND };

// Largest number of nodes that are examined after the last node of the claim. Without this bound, finding many small
// claims would take longer than running their nodes.
enum { LOOK_AHEAD = 512 };

void taper_region_know(void *user, const taper_ir_value *value, taper_known_value *known)
{
    const taper_node *constant = taper_value_constant(value);
    *known = (taper_known_value){.constant = constant != NULL ? &constant->constant : NULL,
                                 .shape = taper_region_shape(user, value)};
}

static uint32_t needs(const taper_node *node)
{
    uint32_t most = NONE;
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        const uint32_t mark = value->block == node->block && value->node != NULL ? value->reg : NONE;
        most = mark > most ? mark : most;
    }
    return most;
}

static void mark(taper_node *node, uint32_t as)
{
    for (size_t i = 0; i < node->output_count; i++) {
        node->outputs[i].reg = as;
    }
}

static bool all_inside(const taper_ir_value *value)
{
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (use->user == NULL || use->user->output_count == 0 || use->user->outputs[0].reg != INSIDE) {
            return false;
        }
    }
    return true;
}

static bool is_list(const taper_node *node)
{
    return node->kind == TAPER_NODE_LIST ||
           (node->kind == TAPER_NODE_OP && TAPER_FIELD(taper_node_facts(node), SHAPE) == TAPER_SHAPE_PIECES);
}

// Returns true if the node uses a tensor list from outside the claim, whose items are not known.
static bool takes_list_from_outside(const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        const bool numbers = value->type != NULL && taper_type_equal(value->type, &taper_type_list_int);
        if (value->node != NULL && value->node->kind == TAPER_NODE_LIST && !numbers && value->reg != INSIDE) {
            return true;
        }
    }
    return false;
}

static bool divides(const taper_node *node)
{
    return taper_node_calls(node, TAPER_OP(aten_floordiv_int)) || taper_node_calls(node, TAPER_OP(aten_remainder_int));
}

// Returns true if the sizes that the node computes can be results of the segment. All other results of a segment are
// tensors. The sizes must be integers that depend only on constants and on values made inside the claim, because any
// other number could differ in each call. Returns false for a division by a number that may be zero.
static bool gives_numbers(const taper_node *node)
{
    for (size_t i = 0; i < node->output_count; i++) {
        const taper_type *type = node->outputs[i].type;
        if (type == NULL || type->kind != TAPER_TYPE_INT) {
            return false;
        }
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        const taper_node *constant = taper_value_constant(value);
        const bool inside = value->block == node->block && value->node != NULL && value->reg == INSIDE;
        if ((constant == NULL && !inside) ||
            (constant != NULL && i == 1 && divides(node) && constant->constant.as.i <= 0)) {
            return false;
        }
    }
    return true;
}

// Removes three kinds of nodes from the claim: nodes that make lists used outside the claim, nodes that compute sizes
// for nodes outside, unless gives_numbers returns true for them, and nodes that unpack lists made outside. Then removes
// all nodes that depend on removed nodes, and repeats until nothing changes.
static void drop_lists(const taper_claimer *claimer, taper_region *region, taper_claim *claim)
{
    for (bool again = true; again;) {
        size_t kept = 0;
        again = false;
        // Visits the nodes from the last to the first, so that the users of a node's results come before the node.
        for (size_t i = claim->count; i-- != 0;) {
            taper_node *node = region->nodes[claim->takes[i]];
            const taper_ir_value *from = node->input_count != 0 ? taper_node_in(node, 0) : NULL;
            const bool inner = needs(node) != NONE;
            const bool sizes = claimer->computes_sizes && taper_is_shape_node(node) && !(inner && gives_numbers(node));
            bool inside = true;
            for (size_t o = 0; o < node->output_count; o++) {
                inside = inside && all_inside(&node->outputs[o]);
            }
            const bool loose =
                ((is_list(node) || sizes) && !inside) || (node->kind == TAPER_NODE_LIST_UNPACK && from->reg != INSIDE);
            if (loose) {
                mark(node, sizes && inner ? BEHIND : NONE);
                again = node->kind == TAPER_NODE_LIST_UNPACK || sizes || again;
            }
        }
        for (size_t i = 0; i < claim->count; i++) {
            taper_node *node = region->nodes[claim->takes[i]];
            if (node->outputs[0].reg == INSIDE && needs(node) != BEHIND && !takes_list_from_outside(node)) {
                claim->takes[kept++] = claim->takes[i];
            } else if (node->outputs[0].reg == INSIDE) {
                mark(node, BEHIND);
                again = true;
            }
        }
        again = again && kept != claim->count;
        claim->count = kept;
    }
}

static bool pays(const taper_claimer *claimer, const taper_region *region, const taper_claim *claim)
{
    for (size_t i = 0; claimer->pays != NULL && i < claim->count; i++) {
        if (claimer->pays(region->nodes[claim->takes[i]])) {
            return true;
        }
    }
    return claimer->pays == NULL;
}

taper_status taper_claim_nodes(const taper_claimer *claimer, taper_region *region, taper_claim *claim)
{
    size_t at = region->from, passed = 0, first_refused = region->count;
    taper_node *node, *start, *end;
    while (at < region->count && region->nodes[at] == NULL) {
        at++;
    }
    if (at == region->count) {
        return TAPER_DECLINED;
    }
    claim->count = 0;
    start = region->nodes[at];
    for (node = start; node != NULL && at < region->count && passed < LOOK_AHEAD; node = node->next, passed++) {
        while (at < region->count && region->nodes[at] == NULL) {
            at++;
        }
        const bool shown = at < region->count && region->nodes[at] == node;
        const uint32_t need = needs(node);
        mark(node, need == NONE ? NONE : BEHIND);
        if (!shown) {
            continue;
        }
        const bool sizes = taper_is_shape_node(node);
        const char *why = need == BEHIND                  ? ""
                          : sizes                         ? (claimer->computes_sizes ? NULL : "numbers")
                          : takes_list_from_outside(node) ? "a list that is not made in the same place"
                                                          : claimer->refuses(claimer, region, node);
        if (need != BEHIND && why == NULL) {
            claim->takes[claim->count++] = at;
            mark(node, INSIDE);
            passed = 0;
        } else {
            first_refused = first_refused == region->count ? at : first_refused;
            if (why != NULL && *why != '\0') {
                claim->refused = claim->refused == region->count ? at : claim->refused;
                claim->why = claim->refused == at ? why : claim->why;
            }
        }
        at++;
    }
    end = node;
    const size_t seen = at;
    drop_lists(claimer, region, claim);
    // The next claim starts at the first refused node, because nodes after that node may be part of the next claim.
    claim->next = seen;
    if (first_refused != region->count && claim->count != 0) {
        claim->next = first_refused;
    }
    if (claim->next <= region->from) { // ensures progress: a claim without nodes would otherwise be repeated
        claim->next = region->from + 1;
    }
    if (!pays(claimer, region, claim)) {
        claim->count = 0;
        // All nodes from claim->next on are examined again for the next claim. To bound this work, the next claim skips
        // at least an eighth of the examined nodes if they were very many.
        const size_t looked_at = seen - region->from;
        if (looked_at > LOOK_AHEAD && claim->next < region->from + looked_at / 8) {
            claim->next = region->from + looked_at / 8;
        }
    }
    for (node = start; node != end; node = node->next) {
        mark(node, NONE);
    }
    return TAPER_OK;
}
