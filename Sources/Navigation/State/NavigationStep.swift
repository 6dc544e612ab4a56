/// One change of what is shown, as a view animates it.
public enum NavigationStep: Hashable, Sendable {
    /// Another root, with its container as it is; whatever lay on the former one goes with it.
    case setRoot(RootScreen)
    /// Another tab comes to the front.
    case selectTab(String)
    /// A screen, with what is pushed on it, takes a column of a split root; nil empties the column.
    case show(ScreenStack?, column: String)
    /// Screens come onto a path, the topmost last.
    case push([ScreenInstance], on: Layer)
    /// So many screens go from the end of a path.
    case pop(Int, from: Layer)
    /// These screens take the place of so many at the end of a path.
    case replace(Int, with: [ScreenInstance], on: Layer)
    /// A screen, with what is pushed on it, is presented over all others.
    case present(Presentation)
    /// A presentation goes, and all that it presents.
    case dismiss(instance: String)
    /// A screen that stays has other arguments; there is nothing to animate.
    case update(ScreenInstance)

    /// Whose path it is.
    public enum Layer: Hashable, Sendable {
        /// The root's.
        case root
        /// That of this tab.
        case tab(String)
        /// That of this column.
        case column(String)
        /// The presentation's of this instance.
        case presentation(String)
    }
}
