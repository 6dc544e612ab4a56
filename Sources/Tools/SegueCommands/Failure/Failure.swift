internal import Compose
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Scaffold
internal import SystemPackage

/// What a person is told of an error, and what a script is. The one place where errors become exit statuses.
package struct Failure: Hashable, Sendable {
    package let lines: [String]
    package let status: ExitStatus

    /// - Returns: `nil` for an error that is not of this project, such as the parser's own.
    package init?(_ error: any Error) {
        switch error {
        case let error as CommandError:
            (lines, status) = ([error.description], error.status)
        case let errors as CommandErrors:
            (lines, status) = (errors.errors.map(\.description), errors.errors.first?.status ?? .failure)
        case let error as BusError:
            (lines, status) = ([error.message], ExitStatus(of: error))
        case let error as RecordingError:
            (lines, status) = ([error.description], error.isMissing ? .noInput : .dataError)
        case let error as ComposeFileError:
            (lines, status) = (error.mistakes.map(\.description), .configuration)
        case let error as ScaffoldError:
            (lines, status) = (["\(error.message); \(error.recovery)"], .failure)
        case let error as FlowError:
            (lines, status) = (error.findings.map(\.description), .configuration)
        case let error as ComposeError:
            let text = error.description.split(separator: "\n", omittingEmptySubsequences: false)
            (lines, status) = (text.map(String.init), ExitStatus(of: error))
        case let error as CocoaError:
            (lines, status) = (["\(error.filePath ?? "a file") cannot be used: \(error.reason)"], .ioError)
        default: return nil
        }
    }

    /// - Returns: `nil` unless standard output could not be written. What opens other files says which, and why.
    init?(ofOutput error: any Error) {
        guard let error = error as? Errno else { return nil }
        (lines, status) = (["standard output cannot be written: \(error)"], .ioError)
    }
}

extension ExitStatus {
    fileprivate init(of error: BusError) {
        switch error.code {
        case .unavailable, .unserved: self = .unavailable
        case .deadline, .cancelled: self = .temporaryFailure
        case .journal: self = .ioError
        case .address: self = .configuration
        case .malformed, .refused: self = .dataError
        default: self = .software
        }
    }

    fileprivate init(of error: ComposeError) {
        switch error.code {
        case "compose-file-unreadable", "environment-file-unreadable": self = .noInput
        case "invalid-project-name", "unknown-service", "inactive-dependency": self = .configuration
        default: self = .failure
        }
    }
}
