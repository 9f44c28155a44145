"""What the rules of the job ``filter`` measure: characters, words, marks, their overlap."""
