import CommandLineTestSupport
import TestSupport

extension SegueCommandLine {
    /// Runs `body` with the repository as the working folder, and with a temporary folder for state and sockets.
    static func inRepository(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await inScratch { segue in
            var segue = segue
            segue.workingDirectory = Repository.path("")
            try await body(segue)
        }
    }
}
