//! The registry of kinds of devices: one list, from which everything else about them follows.

/// Declares the kinds, a line each: `Variant = "name" in path::to::Spec, "what it is";`. The name must be the variant's in kebab case.
macro_rules! kinds {
    ($($variant:ident = $name:literal in $spec:ty, $summary:literal;)*) => {
        /// A device and its parts; the one key says what it is.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum DeviceSpec {
            $(#[doc = $summary] $variant(Box<$spec>),)*
        }

        impl DeviceSpec {
            /// The names of all kinds.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// What is known of all kinds, in the order of [`NAMES`](Self::NAMES).
            pub const KINDS: &'static [kind::KindFacts] = &[$(kind::KindFacts::of::<$spec>($name)),*];

            /// What a drive's file says, read as its kind reads it.
            ///
            /// # Errors
            /// An unknown kind, with a suggestion; what is wrong with the file.
            pub fn describe_drive(file: &drives::DriveFile) -> Result<kind::DriveFacts, $crate::base::error::Error> {
                match file.kind()? {
                    $($name => <$spec as kind::DeviceKind>::describe_drive(file),)*
                    unknown => {
                        let error = $crate::base::error::unknown_name("kind of device", unknown, DeviceSpec::NAMES);
                        Err(error.at(file.place_of_kind()).into())
                    }
                }
            }
        }

        impl kind::AnyDevice for DeviceSpec {
            fn name(&self) -> &'static str {
                match self { $(DeviceSpec::$variant(_) => $name,)* }
            }
            fn build_below(
                &self,
                above: &assembly::Site<'_>,
                prefix: &str,
                around: &spindles::Spindles,
                tree: &mut assembly::DeviceTree,
            ) -> Result<kind::Built, $crate::base::error::Error> {
                let path = format!("{prefix}{}", kind::AnyDevice::name(self));
                let site = assembly::Site { path: &path, spindles: around, run: above.run };
                match self { $(DeviceSpec::$variant(spec) => kind::DeviceKind::build(&**spec, &site, tree),)* }
            }
            fn fill_in(&mut self, around: &spindles::Spindles) {
                match self { $(DeviceSpec::$variant(spec) => kind::DeviceKind::fill_in(&mut **spec, around),)* }
            }
            fn draws_spindles(&self, around: &spindles::Spindles) -> bool {
                match self { $(DeviceSpec::$variant(spec) => kind::DeviceKind::draws_spindles(&**spec, around),)* }
            }
        }
    };
}
pub(super) use kinds;
