import Foundation
import SegueTestSupport
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A Python script that controls a real browser with Playwright. `scripts/test-setup` installs both.
///
/// The script and the test take turns: when the script prints `? STEP`, the test carries out this step and writes one
/// line, which is the result.
struct PageScript: Sendable {
    typealias Steps = @Sendable (_ step: String) async throws -> String

    private static let folder = Repository.path("Tests/IntegrationTests/Page/Scripts")
    private static let python = Repository.path(".build/venv/bin/python")

    /// The file name of the script.
    let name: String
    /// The path of a page that signs the browser in and leads to the gateway.
    let link: String

    /// The failure of a script, with its output.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the script until it ends.
    /// - Throws: ``Failure`` if the script ends with another status than 0, and the errors of `steps`.
    func run(_ steps: @escaping Steps) async throws {
        guard FileManager.default.isExecutableFile(atPath: Self.python) else {
            throw Failure(description: "\(Self.python) is missing; run scripts/test-setup")
        }
        let configuration = Configuration(
            executable: .path(FilePath(Self.python)), arguments: Arguments(["\(Self.folder)/\(name)", link]),
            // Otherwise Python would write compiled files into the repository.
            environment: .inherit.updating(["PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"]))
        let result = try await Subprocess.run(
            configuration, input: .inputWriter, output: .sequence, error: .combinedWithOutput
        ) { execution in
            var lines: [String] = []
            for try await text in execution.standardOutput.strings() {
                let line = text.trimmingCharacters(in: .newlines)
                guard line.hasPrefix("? ") else {
                    lines.append(line)
                    continue
                }
                _ = try await execution.standardInputWriter.write(try await steps(String(line.dropFirst(2))) + "\n")
            }
            try await execution.standardInputWriter.finish()
            return lines
        }
        guard case .exited(0) = result.terminationStatus else {
            let output = Self.end(of: result.closureResult).joined(separator: "\n")
            throw Failure(description: "\(name) failed, \(result.terminationStatus):\n\(output)")
        }
    }

    /// The traceback, which Playwright continues with a snapshot of the whole page. Without one, the last lines.
    private static func end(of lines: [String]) -> ArraySlice<String> {
        lines.lastIndex { $0.hasPrefix("Traceback") }.map { lines[$0...].prefix(60) } ?? lines.suffix(60)
    }
}
