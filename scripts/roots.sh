# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh by the scripts that try Earshot in a fresh root of a distribution, made by mmdebstrap. Mounts belong to the
# process that runs in the root, and end with it in any case.
# shellcheck shell=bash disable=SC2034,SC2154

# The Debian releases on which Earshot is tried.
declare -A codenames=([12]=bookworm [13]=trixie)

# The folder of this machine's Swift, which has the same path in a root.
toolchain_folder() {
    local folder
    folder=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
    [[ $folder == /?* ]] || fail "Swift is installed in /usr: unpack it in a folder of its own, such as /opt/swift"
    echo "$folder"
}

remove_root() { rm -rf --one-file-system "$1"; }

# Prints the reason that no root can be made here; nothing if it can.
no_roots() {
    if ((${EARSHOT_UID:-$EUID} != 0)); then
        echo "it needs root, for mmdebstrap: sudo $0"
    elif ! unshare --mount --pid --net --fork true 2>/dev/null; then
        echo "this container may not make namespaces; docker run --privileged allows them"
    fi
}

# new_root CODENAME FOLDER: apt and little else.
new_root() {
    local codename=$1 base=$2
    mkdir -p "$(dirname "$base")"
    retry new_root_once "$codename" "$base" >&2
    cp /etc/resolv.conf "$base/etc/resolv.conf"
    [[ -e $base/etc/hosts ]] || echo '127.0.0.1 localhost' >"$base/etc/hosts" # which an installed system has
}
new_root_once() {
    remove_root "$2"
    mmdebstrap --quiet --variant=apt --components=main "$1" "$2"
}

# install_in_root FOLDER LOG DEBS PACKAGE…: apt-get keeps its downloads in the folder DEBS.
install_in_root() {
    local base=$1 log=$2 debs=$3
    shift 3
    mkdir -p "$debs/partial"
    if ! retry in_root --bind "$debs:/var/cache/apt/archives" "$base" bash -ec '
        export DEBIAN_FRONTEND=noninteractive
        apt-get -o APT::Sandbox::User=root update -q
        apt-get -o APT::Sandbox::User=root install -q -y --no-install-recommends "$@"
        apt-get -q autoclean' - "$@" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        fail "apt-get could not install in $base: $*"
    fi
}

# in_root [--offline] [--bind PATH[:PLACE]]… FOLDER COMMAND…: runs a command in the root with /proc and /dev, only the terminal of
# the caller's environment, and the named folders. Its processes end with it.
in_root() {
    local base binds=() namespaces=(--mount --pid --fork --kill-child)
    while [[ $1 == --* ]]; do
        case $1 in
        --offline) namespaces+=(--net) && shift ;;
        --bind) binds+=("$2") && shift 2 ;;
        *) fail "in_root takes no $1" ;;
        esac
    done
    base=$1
    shift
    # shellcheck disable=SC2016
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" ${NO_COLOR+NO_COLOR="$NO_COLOR"} ${CI+CI="$CI"} \
        unshare "${namespaces[@]}" --propagation private bash -ec '
        base=$1 count=$2
        shift 2
        ip link set lo up
        mount --bind "$base" "$base" # or the root could not make mount namespaces of its own
        mount -t proc proc "$base/proc"
        mount --rbind /dev "$base/dev"
        mount -t tmpfs shm "$base/dev/shm"
        for ((; count > 0; count--)); do
            place=$base${1#*:}
            mkdir -p "$place"
            mount --bind "${1%%:*}" "$place"
            shift
        done
        exec chroot "$base" "$@"' - "$base" "${#binds[@]}" "${binds[@]}" "$@"
}
