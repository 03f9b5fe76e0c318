# SPDX-License-Identifier: BSD-2-Clause
# apt_state.sh: for scripts that source it. apt_state FOLDER makes an empty state of apt in FOLDER, and FOLDER/apt.conf, which a script names in
# APT_CONFIG. apt then changes neither the machine's packages nor its lists. The caller may append lines to apt.conf.
# shellcheck shell=sh
apt_state() {
    rm -rf "$1"
    mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
    : >"$1/status"
    cat >"$1/apt.conf" <<END
Dir::State "$1";
Dir::State::status "$1/status";
Dir::State::lists "$1/lists";
Dir::Cache "$1/cache";
APT::Sandbox::User "root";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::Languages "none";
DPkg::Post-Invoke-Success "";
APT::Update::Post-Invoke-Success "";
END
}
