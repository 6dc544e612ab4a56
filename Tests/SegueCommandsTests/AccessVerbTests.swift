import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Rights of a bus", .timeLimit(.minutes(2)))
struct AccessVerbTests {
    private static let contract = Repository.path("config/contract.json")

    @Test("The rights of the focus player are printed as a table, and as JSON")
    func table() async throws {
        try await SegueCommandLine.inScratch { segue in
            let table = try await segue("access", "--contract", Self.contract)
            let words = table.lines.map { $0.split(separator: " ").map(String.init) }
            #expect(words.first == ["NAME", "PUBLISHES", "READS", "CLAIMS", "SERVES", "ASKS"])
            let auth = try #require(words.first { $0.first == "auth-service" })
            #expect(
                auth == [
                    "auth-service", "error.ApplicationError", "command.SpotifyAuthorizationRequested", "auth-service",
                    "-", "-",
                ])
            let json = try await segue.shell(
                """
                segue access --json < \(Self.contract) --contract - \
                  | jq -r 'select(.publishes[] == "document.NavigationState") | .name'
                """)
            #expect(json.lines == ["ios-coordinator", "mac-coordinator"])
        }
    }

    @Test("The rights are written for the broker, and services that may do nothing are named")
    func write() async throws {
        try await SegueCommandLine.inScratch { segue in
            _ = try await segue.shell(
                "segue keys init && segue keys add music-service shop && segue keys add watch --role monitor")
            let result = try await segue("access", "--contract", Self.contract, "--write")
            #expect(result.output == "keys/access.json\n")
            #expect(
                result.error
                    == "segue: the contract does not name shop, which may do nothing; add it to the contract, or give its "
                    + "key another role\n")
            let asked = try await segue.shell("jq -c '.services[\"music-service\"].serves' keys/access.json")
            #expect(asked.output == "[\"query.PlaylistSongs\"]\n")
            let mode = try FileManager.default.attributesOfItem(atPath: segue.directory + "/keys/access.json")
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "A mistake is one line that names the file and the remedy",
        arguments: [
            (
                "", 66,
                "there is no file config/contract.json, or it cannot be read; write one with 'segue contract export -o "
                    + "config/contract.json'"
            ),
            (
                "--contract \(Self.contract) --write", 78,
                "there is no folder keys with keys; make one with 'segue keys init'"
            ),
        ])
    func mistakes(_ arguments: String, _ status: Int32, _ error: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.shell("segue access \(arguments)")
            #expect(result.error == "segue: \(error)\n")
            #expect(result.status == status)
        }
    }
}
