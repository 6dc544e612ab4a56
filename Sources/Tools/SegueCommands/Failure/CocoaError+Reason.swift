internal import Foundation
internal import SystemPackage

extension CocoaError {
    /// Why a file cannot be read or written, in the system's words: Foundation's own are a domain and a number here.
    var reason: String {
        guard let cause = underlying as NSError?, cause.domain == NSPOSIXErrorDomain else {
            return localizedDescription
        }
        return "\(Errno(rawValue: CInt(cause.code)))"
    }
}
