import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Help of each program")
struct HelpTests {
    @Test("The help is printed on a terminal of any width", arguments: Repository.programs)
    func width(program: String) async throws {
        try await SegueCommandLine.inRepository { segue in
            var narrow = segue
            for columns in [0, 1, 10, 24, 25, 200] {
                narrow.environment["COLUMNS"] = "\(columns)"
                let help = try await narrow.shell("\(program) --help")
                #expect(help.status == 0 && help.output.contains("USAGE"), "\(columns): \(help.error)")
            }
        }
    }

    @Test("The test covers each program of the package")
    func programs() {
        #expect(Repository.programs.contains("segue") && Repository.programs.count >= 12)
    }
}

extension Repository {
    /// The names of the package's programs.
    fileprivate static let programs: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: path("Sources/Executables")))?.sorted() ?? []
}
