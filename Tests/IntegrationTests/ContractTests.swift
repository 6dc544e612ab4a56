import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("The file config/contract.json", .timeLimit(.minutes(5)))
struct ContractTests {
    private func kept() throws -> String {
        try String(contentsOfFile: Repository.path("config/contract.json"), encoding: .utf8)
    }

    @Test("The contract equals that of the services; 'segue contract export -o config/contract.json' renews it")
    func isKept() async throws {
        try await SegueCommandLine.inRepository { segue in
            let exported = try await segue("contract", "export", "-f", "compose/default.yaml")
            try #require(exported.status == 0, "\(exported.error)")
            #expect(exported.error.isEmpty)
            let check = try await segue("contract", "check", "config/contract.json", "-f", "compose/default.yaml", "-v")
            #expect(check.status == 0 && check.output.isEmpty, "\(check.output)")
            #expect(try exported.output == kept())
        }
    }

    @Test(
        "The contract is a valid document of AsyncAPI 3.0",
        .enabled(if: AsyncAPISchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func asyncAPI() async throws {
        try await SegueCommandLine.inRepository { segue in
            let contract = try kept()
            #expect(try await AsyncAPISchema.complaints(about: contract, segue) == "")
            let broken = contract.replacing("\"action\" : \"send\"", with: "\"action\" : \"sned\"")
            #expect(try await AsyncAPISchema.complaints(about: broken, segue).contains("'sned' is not one of"))
        }
    }

    @Test("A contract can be exported from every stack of the project", arguments: ["examples", "spotify"])
    func stacks(name: String) async throws {
        try await SegueCommandLine.inRepository { segue in
            var segue = segue
            segue.environment["SPOTIFY_CLIENT_ID"] = "app"
            let exported = try await segue("contract", "export", "-f", "compose/\(name).yaml")
            #expect(exported.status == 0 && exported.error.isEmpty, "\(exported.error)")
        }
    }

    @Test("The shipped flows match the contract")
    func flows() async throws {
        try await SegueCommandLine.inRepository { segue in
            let result = try await segue.run(
                [
                    "flow", "check", "--strict", "--contract", "config/contract.json", "config/flows/ios.yaml",
                    "config/flows/mac.yaml",
                ])
            #expect(result.status == 0 && result.output.hasPrefix("no findings in "), "\(result.output)\(result.error)")
            for name in ["onboarding", "three-screens", "brew", "router", "dispatch"] {
                let result = try await segue(
                    "flow", "check", "--strict", "-f", "compose/examples.yaml", "config/flows/examples/\(name).yaml")
                #expect(
                    result.status == 0 && result.output.hasPrefix("no findings in "), "\(result.output)\(result.error)")
            }
        }
    }

    @Test("The contract is on the bus of a running stack, and 'segue send' checks messages with it")
    func running() async throws {
        try await SegueCommandLine.inRepository { segue in
            let up = try await segue("up", "-d", "--wait", "-f", "compose/default.yaml")
            try #require(up.status == 0, "\(up.error)")
            let wrong = try await segue("send", "command.PlaylistSelected", #"{"playlistId": "p1"}"#)
            #expect(
                wrong.error
                    == "segue: command.PlaylistSelected: data.playlistId: unknown field; did you mean 'playlistID'?; "
                    + "correct it, or use --no-check\n")
            #expect(wrong.status == 65)
            let running = try await segue("contract", "export", "-p", "segue", "-o", "\(segue.directory)/running.json")
            try #require(running.status == 0, "\(running.error)")
            let check = try await segue("contract", "check", "\(segue.directory)/running.json")
            #expect(check.status == 0 && check.output.isEmpty, "\(check.output)")
        }
    }
}

/// The JSON Schemas of AsyncAPI, and a validator of documents.
enum AsyncAPISchema {
    private static let python = Repository.path(".build/venv/bin/python")
    /// True if the validator is installed. `make test` installs it if pip can.
    static let hasValidator = FileManager.default.isExecutableFile(atPath: python)
    /// The project's own schema of the objects in a contract, and the official schema if it has been downloaded:
    /// `schemas/3.0.0-without-$id.json` of github.com/asyncapi/spec-json-schemas.
    private static let files = [
        Repository.path("Tests/Fixtures/Schemas/asyncapi-3.0.json"), Repository.path(".build/asyncapi-3.0.0.json"),
    ]

    private static let validator = """
        import json, sys
        from jsonschema import validators
        document = json.load(sys.stdin)
        for path in sys.argv[1:]:
            schema = json.load(open(path))
            for error in validators.validator_for(schema)(schema).iter_errors(document):
                print(error.json_path, error.message[:200])
        """

    /// The errors of a document according to the schemas, one on each line.
    static func complaints(about document: String, _ segue: SegueCommandLine) async throws -> String {
        try segue.write(document, to: "document.json")
        try segue.write(validator, to: "validate.py")
        let schemas = files.filter(FileManager.default.fileExists).map { "'\($0)'" }.joined(separator: " ")
        let directory = segue.directory
        let result = try await segue.shell(
            "'\(python)' \(directory)/validate.py \(schemas) < \(directory)/document.json 2>&1")
        return result.status == 0 ? result.output : "the validator failed: \(result.output)"
    }
}
