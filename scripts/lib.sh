# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: lists the required packages with reasons, checks the system before anything is changed, and
# formats lines. Nothing here downloads a toolchain, and apt-get never removes a package.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Scripts set these variables themselves.
unset EARSHOT_LAYERS EARSHOT_BUILD

# To build: the C libraries and pkg-config.
build_packages=(
    git pkg-config libjack-jackd2-dev libpipewire-0.3-dev libasound2-dev libopus-dev libavcodec-dev libavutil-dev
    libavformat-dev libsndfile1-dev libvorbis-dev libmp3lame-dev libkissfft-dev libcairo2-dev libdbus-1-dev liblilv-dev lv2-dev
    libwebrtc-audio-processing-dev libtag1-dev libcurl4-openssl-dev libssl-dev libsrtp2-dev
    libavahi-client-dev
)
# For scripts/demo: recorded speech and songs, converters, and a player for the result.
demo_packages=(pocketsphinx-testdata fretsonfire-songs-sectoid sox alsa-utils)
# For scripts/bench files and playout: more speech. Debian 13 no longer has it.
bench_packages=(codec2-examples)
# For scripts/test: sound servers, network tools, independent measures of quality, encoders, compilers for them, plug-ins, a
# debugger, and other RTP programs: a browser, GStreamer.
test_packages=(
    jackd2 pipewire pipewire-bin pipewire-pulse pipewire-alsa wireplumber pulseaudio-utils dbus-daemon mpv mpv-mpris ffmpeg
    valgrind dpkg-dev mmdebstrap iproute2 python3 python3-dbus python3-gi python3-venv python3-dev gcc g++ binutils man-db shellcheck gdb procps
    libebur128-dev swh-lv2 mda-lv2 lame vorbis-tools opus-tools openssl flac avahi-daemon avahi-utils nftables util-linux
    chromium gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
)
# Installed in .build/venv, for the quality scores.
test_python_packages=(numpy scipy pesq pystoi visqol-python)

# The manifest's first line gives the oldest supported Swift.
swift_wanted=$(sed -n '1s/.*swift-tools-version: *//p' "$root/Package.swift")

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
    bold='' red='' green='' plain=''
fi

# Copies its input to a file and to standard error as it arrives. (Opening a standard error that is a file by name would truncate
# it.)
shown() { tee >(cat >&2); }
say() { printf '%s==>%s %s\n' "$bold" "$plain" "$*"; }
fail() {
    printf '%s%s%s\n' "$red" "$*" "$plain" >&2
    exit 1
}

# Succeeds if version $1 is at least $2.
at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# Ends the script without changing anything, unless the distribution is supported and Swift is new enough.
require_known_system() {
    require_known_distribution
    require_swift
}

require_known_distribution() {
    [[ -z ${EARSHOT_SKIP_PACKAGES:-} ]] || return 0
    local ID='' VERSION_ID='' PRETTY_NAME='' file=${EARSHOT_OS_RELEASE:-/etc/os-release}
    # shellcheck disable=SC1090
    [[ ! -r $file ]] || . "$file"
    case $ID in
    debian) at_least "${VERSION_ID:-99}" 12 && return ;;  # testing and unstable have no number
    ubuntu) at_least "${VERSION_ID:-0}" 22.04 && return ;;
    esac
    fail "Unknown distribution: ${PRETTY_NAME:-$(uname -s)}. Known are Debian 12 and Ubuntu 22.04, and newer ones.
Install by hand the libraries with their headers: JACK, Opus, FFmpeg (libavcodec, libavformat, libavutil), libsndfile,
libvorbis, LAME, TagLib, libcurl, OpenSSL, libsrtp2, kissfft, Cairo, D-Bus, Avahi, lilv with LV2,
webrtc-audio-processing 0.3 or 1.x, and pkg-config. Debian calls these
packages:
    ${build_packages[*]}
For the demo:
    ${demo_packages[*]}
For the tests:
    ${test_packages[*]}
Then call this script again with EARSHOT_SKIP_PACKAGES=1. Nothing was changed."
}

require_swift() {
    local found='' version
    found=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1) || true
    if [[ -n $found ]] && at_least "$found" "$swift_wanted"; then return; fi
    version=${found:+"Swift $found is too old"}
    fail "${version:-Swift is missing}: Earshot needs Swift $swift_wanted or newer. Swift's own installer for this system:
    curl -O https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz
    tar zxf swiftly-$(uname -m).tar.gz
    ./swiftly init
    swiftly install --use $swift_wanted
See https://www.swift.org/install/linux. Nothing was changed."
}

# Installs the named packages that are missing.
ensure_packages() {
    [[ -z ${EARSHOT_SKIP_PACKAGES:-} ]] || return 0
    local package missing=() as_root=()
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        say "All $# packages that this needs are installed"
        return
    fi
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "These packages are missing, and there is no sudo. Install them as root:
    apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo)
    fi
    say "Installing from the distribution (nothing is removed): ${missing[*]}"
    if [[ " ${missing[*]} " == *" jackd2 "* ]]; then
        echo "jackd2 jackd/tweak_rt_limits boolean false" | "${as_root[@]}" debconf-set-selections
    fi
    local log
    log=$(mktemp)
    if ! retry install_packages "${missing[@]}" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "apt-get could not install: ${missing[*]}"
    fi
    rm -f "$log"
}
install_packages() {
    "${as_root[@]}" apt-get update -q &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends --no-remove "$@"
}

# Runs a command that needs the network, at most three times, since mirrors and registries fail occasionally.
retry() {
    local attempt
    for attempt in 1 2 3; do
        if "$@"; then return; fi
        echo "attempt $attempt failed: $*" >&2
        ((attempt == 3)) || sleep "${EARSHOT_RETRY_SECONDS:-5}"
    done
    return 1
}

# Creates .build/venv with the Python packages for the quality scores, unless they are installed.
ensure_python() {
    local venv=$root/.build/venv stamp=$root/.build/venv/earshot-packages python=/usr/bin/python3
    [[ ! -f $stamp || $(<"$stamp") != "${test_python_packages[*]}" ]] || return 0
    [[ -x $python ]] || python=python3
    "$python" -m venv --clear "$venv"
    retry "$venv/bin/pip" install -q --disable-pip-version-check "${test_python_packages[@]}"
    echo "${test_python_packages[*]}" >"$stamp"
}

# Flags of all release builds, so that a build can reuse the results of another. Loops are aligned: a loop of 7 ns in C takes 10
# if it crosses a cache line. There is no index and no debug information, which would enlarge the program by half.
release_flags=(-c release --disable-index-store -debug-info-format none -Xcc -falign-loops=64)

# The release build that the demo, the installation and the tests share. When scripts/test runs all stages, EARSHOT_SCRATCH is the
# folder of the tests' build, also for the program, the products and the examples: their common modules are built once, with the
# tests' flags. EARSHOT_PROGRAM is a copy of the program, which the next build replaces.
program_flags=("${release_flags[@]}")
[[ -z ${EARSHOT_SCRATCH:-} ]] || program_flags+=(-Xswiftc -enable-testing)
build_release() {
    if [[ -n ${EARSHOT_PROGRAM:-} && -x $EARSHOT_PROGRAM ]]; then return; fi
    EARSHOT_BUILD=static swift build --package-path "$root" "${program_flags[@]}" --scratch-path "${EARSHOT_SCRATCH:-$root/.build}" \
        --product earshot "$@"
    [[ -z ${EARSHOT_PROGRAM:-} ]] || install -D "$(release_folder)/earshot" "$EARSHOT_PROGRAM"
}
release_folder() {
    swift build --package-path "$root" "${program_flags[@]}" --scratch-path "${EARSHOT_SCRATCH:-$root/.build}" --show-bin-path
}
release_program() { if [[ -n ${EARSHOT_PROGRAM:-} ]]; then echo "$EARSHOT_PROGRAM"; else echo "$(release_folder)/earshot"; fi; }

# Builds the tests without an index. SwiftPM would make an entry point from it; ours is copied in and removed again, since with it
# `swift test` runs no test of Swift Testing.
build_with_tests() (
    trap 'rm -f "$root/Tests/XCTMain.swift"' EXIT
    cp -p "$root/scripts/TestMain.swift" "$root/Tests/XCTMain.swift"
    swift build --package-path "$root" --build-tests --disable-index-store --disable-xctest "$@" >&2
)

# The tests are optimised builds in .build/tests: at -Onone a virtual hour of audio takes a real one.
test_flags=("${release_flags[@]}" -Xswiftc -enable-testing --scratch-path "$root/.build/tests")
build_tests() { build_with_tests "${test_flags[@]}"; }
test_bundle() {
    echo "$(swift build --package-path "$root" "${test_flags[@]}" --show-bin-path)/EarshotPackageTests.xctest"
}
run_built_tests() { "$(test_bundle)" --testing-library swift-testing --no-parallel "$@"; }

# The head of a page of figures: its title, the command that printed it, and the machine.
figures_head() {
    mkdir -p "$root/docs/figures"
    echo "# $1"
    echo
    echo "Printed by \`$2\`, $(date -u +%Y-%m-%d), on $(nproc --all) cores of"
    echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1),"
    echo "$(. /etc/os-release && echo "$PRETTY_NAME"), $(swift --version 2>/dev/null | head -n 1)."
    echo
}
