import CommandLineTestSupport
import Foundation

/// The specification of AsyncAPI as JSON Schemas, and the validator that the tests put documents to.
enum AsyncAPISchema {
    private static let python = Repository.path(".build/venv/bin/python")
    /// `make test` installs it, if pip can.
    static let hasValidator = FileManager.default.isExecutableFile(atPath: python)
    /// Ours, of the objects that a contract consists of, and the official one where somebody has put it: it is
    /// `schemas/3.0.0-without-$id.json` of github.com/asyncapi/spec-json-schemas.
    private static let files = [
        Repository.path("Tests/Schemas/asyncapi-3.0.json"), Repository.path(".build/asyncapi-3.0.0.json"),
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

    /// Where a document is not as the schemas say, each a line.
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
