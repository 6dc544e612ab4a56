public import ArgumentParser
internal import Foundation

extension ServiceProcess {
    /// Writes to standard error why the process cannot start, each reason a line.
    /// - Returns: the status to end with, for `throw`.
    public static func refuse(_ reasons: [String]) -> ExitCode {
        report(reasons)
        return ExitStatus.configuration.exitCode
    }

    static func report(_ lines: [String]) {
        FileHandle.standardError.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}
