/// How this executable was built.
package enum BuildConfiguration {
    #if DEBUG
    package static let isDebug = true
    #else
    package static let isDebug = false
    #endif

    static var name: String { isDebug ? "debug" : "release" }
}
