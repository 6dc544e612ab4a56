import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("The focus player on a bus with rights")
struct StackRightsTests {
    @Test(
        "The app works with the rights of its contract, and a device gets its own session and no other",
        .timeLimit(.minutes(5)))
    func story() async throws {
        try await SegueCommandLine.inScratch { segue in
            for folder in ["compose", "config"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(segue.directory)/\(folder)", withDestinationPath: Repository.path(folder))
            }
            try segue.write("name: rights\ninclude: [compose/default.yaml]\nx-keys: keys")
            try segue.write(
                #"exec curl --silent --location --data "${1#*\?}&decision=approve" "${1%%\?*}""#, to: "browser")
            try await run(
                """
                segue keys init
                segue keys add ios-coordinator mac-coordinator error-notifier auth-service music-service
                segue keys add web --role operator
                segue keys add phone --role device --session anna
                segue keys add watch --role monitor
                segue access --contract config/contract.json --write
                segue up -d --wait
                segue send event.LaunchFinished --session boris
                """, segue)
            let device = "SEGUE_BUS=\"$bus\" SEGUE_BUS_CURVE=keys/phone.key"
            let output = try await run(
                """
                bus="ipc://$XDG_RUNTIME_DIR/segue/rights/bus"
                { echo 'Connect Spotify'
                  echo 'Endless Focus'
                  segue monitor --type event.PlaylistShuffled --since beginning --count 1 >/dev/null
                  echo 'Play on Spotify'
                } | \(device) focus-player --platform ios --session anna --open "sh \(segue.directory)/browser"
                segue monitor --type event.PlaybackStarted --since beginning --count 1 --json
                """, segue)
            #expect(output.contains("Spotify plays."), "\(output)")
            #expect(output.contains(#""subject":"anna""#), "\(output)")
            // What the device may not do is refused with one line and a status.
            for (command, reason) in [
                ("segue send event.LaunchFinished --session boris", "may not "),
                ("segue get NavigationState ios --session boris", "may not read document.NavigationState"),
                ("segue monitor --since beginning --until end", "may not read"),
                ("segue consumer list", "may not "),
            ] {
                let refused = try await segue.shell(
                    "bus=\"ipc://$XDG_RUNTIME_DIR/segue/rights/bus\"; \(device) \(command)")
                #expect(refused.status == 77, "\(command): \(refused.output)\(refused.error)")
                #expect(refused.error.contains("'phone' is a device of the session 'anna' and \(reason)"))
                #expect(refused.error.split(separator: "\n").count == 1, "\(refused.error)")
            }
            // Neither the arguments of a process nor a log or the journal contain a secret key.
            let leaks = try await run(
                """
                sed -n 's/.*"\\(secretKey\\|nkeySeed\\)" : "\\(.*\\)",*$/\\2/p' keys/*.key > secrets
                test "$(wc -l < secrets)" = $(($(ls keys/*.key | wc -l) * 2))
                grep -lFf secrets /proc/[0-9]*/cmdline 2>/dev/null || true
                grep -rlFf secrets state || true
                """, segue)
            #expect(leaks == "", "\(leaks)")
            let monitor = "SEGUE_BUS=\"ipc://$XDG_RUNTIME_DIR/segue/rights/bus\" SEGUE_BUS_CURVE=keys/watch.key"
            let seen = try await run(
                "\(monitor) segue monitor --since beginning --until end; \(monitor) segue services", segue)
            #expect(seen.contains("event.PlaybackStarted") && seen.contains("music-service"))
            let sent = try await segue.shell("\(monitor) segue send event.LaunchFinished")
            #expect(sent.status == 77 && sent.error.contains("'watch' is a monitor and may not publish"))
            let logs = try await run("segue logs", segue)
            #expect(!logs.contains("' may not "), "no service was refused anything: \(logs)")
        }
    }

    @discardableResult
    private func run(_ script: String, _ segue: SegueCommandLine) async throws -> String {
        let result = try await segue.shell("set -e\n\(script)")
        try #require(result.status == 0, "\(result.output)\n\(result.error)")
        return result.output
    }
}
