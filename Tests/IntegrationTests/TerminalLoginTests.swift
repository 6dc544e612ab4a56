import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Log-in at a terminal")
struct TerminalLoginTests {
    /// A terminal with 40 columns, in which the URL takes ten lines, and a browser that writes its arguments to a pipe.
    /// The terminal does not echo: the echo of a key could divide a drawing. `shows` begins a line at each escape
    /// character, because a drawing that replaces lines has no line ends.
    private static let terminal = #"""
        set -euo pipefail
        mkfifo keys opened; exec 3<> keys; touch screen
        printf '#!/bin/sh\nprintf "%%s\\n" "$#" "$@" > opened\n' > browser; chmod +x browser
        script -qfc "tty > tty; stty rows 20 cols 40 -echo; BROWSER=$PWD/browser exec focus-player --platform ios -p segue" screen \
            < keys > /dev/null & terminal=$!
        shows() { grep -q -m1 "${@:2}" -F "$1" <(tail --pid=$terminal -n +1 -f screen | stdbuf -o0 tr '\033' '\n'); }
        """#

    @Test("The whole URL is on the screen, as text and as a link, and a key opens it", .timeLimit(.minutes(5)))
    func login() async throws {
        try await SegueCommandLine.inScratch { segue in
            let stack = Repository.path("compose/default.yaml")
            let result = try await segue.shell(
                #"""
                \#(Self.terminal)
                segue up -d --wait -f '\#(stack)'
                shows 'Connect Spotify'; echo 1 >&3
                shows 'o open the URL'; echo o >&3
                { read -r count; read -r url; } < opened
                echo "given $count: $url"
                # Another width, another drawing.
                stty cols 30 < "$(cat tty)"
                shows '\'"${url:0:30}" -x
                curl --silent --output /dev/null --location --data "${url#*\?}&decision=approve" "${url%%\?*}"
                # The URL has made room for the list.
                shows 'Endless Focus'; echo q >&3
                wait $terminal
                """#)
            try #require(result.status == 0, "\(result.output)\(result.error)")
            let opened = try #require(result.lines.last)
            let written = try String(contentsOfFile: "\(segue.directory)/screen", encoding: .utf8)
            let drawings = written.components(separatedBy: "\u{1B}[2J")
            let drawn = try #require(drawings.first { $0.contains("o open the URL") })
            let links = drawn.matches(
                of: #/\u{1B}\]8;id=([^;]+);([^\u{1B}]+)\u{1B}\\([^\u{1B}]+)\u{1B}\]8;;\u{1B}\\/#)
            #expect(links.count > 5 && links.allSatisfy { $0.3.count <= 40 }, "\(drawn)")
            #expect(opened == "given 1: \(links.map { String($0.3) }.joined())")
            #expect(links.allSatisfy { opened == "given 1: \($0.2)" && $0.1 == links[0].1 })
        }
    }
}
