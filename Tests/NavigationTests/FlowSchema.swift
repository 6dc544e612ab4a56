import Foundation
import Navigation

/// The JSON Schema of flows' files, as editors get it, and the validator that the tests put it to.
enum FlowSchema {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let file = repository.appending(path: "config/flows/flow.schema.json")
    private static let python = repository.appending(path: ".build/venv/bin/python")
    /// `make test` installs it, if pip can. No Swift package that validates by this draft is to be had.
    static let hasValidator = FileManager.default.isExecutableFile(atPath: python.path)

    private static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator
        from ruamel.yaml import YAML
        schema = json.load(open(sys.argv[1]))
        Draft202012Validator.check_schema(schema)
        validate = Draft202012Validator(schema).iter_errors
        texts = json.load(sys.stdin)
        print(json.dumps([[error.json_path for error in validate(YAML(typ="safe").load(text))] for text in texts]))
        """

    static func read() throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
    }

    /// Validates files by the schema.
    ///
    /// - Parameter texts: The files' texts, in YAML.
    /// - Returns: For each of them, where it is not as the schema says.
    static func complaints(about texts: [String]) throws -> [[String]] {
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", validator, file.path]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(texts))
        try input.fileHandleForWriting.close()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try JSONDecoder().decode([[String]].self, from: printed)
    }
}
