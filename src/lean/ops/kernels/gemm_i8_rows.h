// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
